/**
 * `npm run bench learning -- --names`: names that are learned from photographs, with the product's own detector and
 * learning. The photographs are other people's: TEST_STAMPS names the folder of Debian's tuxpaint-stamps-default,
 * TEST_FOOTAGE one with camera traps' (bench/eye-photographs.ts says where their animals are).
 */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isAnimalLabel } from '@hedgerow/contract'
import {
  cropOf,
  learn,
  learnNames,
  nameOf,
  overlapOf,
  verifierFeatures,
  verify,
  VERIFIER_FEATURES,
} from '@hedgerow/vision'
import type { Box, NameExample, RgbImage } from '@hedgerow/vision'
import { createRandom, type Random } from '@hedgerow/vision/rendered'
import sharp from 'sharp'
import { addModel } from '../apps/gateway/src/models/add.ts'
import { openModel, type Model } from '../apps/gateway/src/models/model.ts'
import { PHOTOGRAPHED } from './eye-photographs.ts'
import { report } from './report.ts'

const MODEL = 'ssdlite-coco'
const SIDE = 320
const VIEWS = 24
const FOUND_SCORE = 0.3
const SAME = 0.4
const TAUGHT = 22
const OTHER_PHOTOGRAPHS = 10
const OTHER_VIEWS = 40
const SPLITS = 20
/** Below so many pictures nothing is claimed. */
const LEAST_PICTURES = 30
const HOUR_MS = 3_600_000
const NO_ANIMALS = /cartoon|toys|aquatic/
/** Photographs of one kind, by the beginnings of their names. */
const SPECIES: Readonly<Record<string, RegExp>> = {
  pig: /^(pig|wildboar)/,
  deer: /^(deer|doe|wapiti|caribou)/,
  rabbit: /^rabbit/,
  cattle: /^(cow|bull|zebu|yak|bison)/,
  donkey: /^(donkey|horse)/,
  tiger: /^tiger/,
}

type View = { photograph: string; box: Box; features: Float32Array }
type Picture = { photograph: string; image: RgbImage; box: Box }

export async function benchNames(): Promise<void> {
  const { TEST_STAMPS: stamps, TEST_FOOTAGE: footage } = process.env
  if (!footage || !existsSync(footage)) return console.log('skipped: names (TEST_FOOTAGE names no folder)')
  const random = createRandom(11)
  report('learning, the verifier on crops of photographs', await verifierNights(footage, random))
  if (!stamps || !existsSync(stamps)) return console.log('skipped: names of stamps (TEST_STAMPS names no folder)')
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-names-'))
  const ask = { confirm: async () => false, print: console.log, fromHub: async () => undefined }
  await addModel({ what: MODEL, acceptedLicence: 'Apache-2.0', folder, ...ask })
  const model = openModel({
    folder,
    name: MODEL,
    threads: 1,
    leastScore: 0.1,
    log: { info() {}, error: console.error },
  })
  try {
    const seen = Map.groupBy(await viewsOf(stamps, footage, { model, random }), ({ photograph }) => photograph)
    report('learning, a name for each photograph', namesOfPhotographs(seen, random))
    report('learning, a name of several photographs', namesOfSpecies(seen, random))
  } finally {
    await model.stop()
    await rm(folder, { recursive: true })
  }
}

const emptyScenes = (footage: string) =>
  ['sn-blank', 'sn-blank2', 'sn-blank3'].map((name) => join(footage, `${name}.jpg`))

/** Each photograph many times: sizes, sides, light, infrared and JPEG vary, before empty scenes of camera traps. */
async function viewsOf(stamps: string, footage: string, { model, random }: { model: Model; random: Random }) {
  const files = (await readdir(stamps, { recursive: true })).filter(
    (file) => file.includes('mammals') && file.endsWith('.png') && !NO_ANIMALS.test(file),
  )
  const scenes = await Promise.all(
    emptyScenes(footage).map((path) => sharp(path).resize(960, 640, { fit: 'cover' }).toBuffer()),
  )
  const views: View[] = []
  for (const file of files)
    for (let i = 0; i < VIEWS; i++) {
      const { image, box } = await pasted(join(stamps, file), scenes[i % scenes.length]!, random)
      const [found] = (await model.look('bench', [image])) ?? [[]]
      const own = found!.find((one) => one.features && one.score > FOUND_SCORE && overlapOf(one.box, box) > SAME)
      if (own && isAnimalLabel(own.label))
        views.push({ photograph: basename(file, '.png'), box: own.box, features: own.features!.values })
    }
  console.log(`${views.length} of ${files.length * VIEWS} views of ${files.length} photographs are animals to ${MODEL}`)
  return views
}

async function pasted(file: string, scene: Buffer, random: Random): Promise<Omit<Picture, 'photograph'>> {
  const width = Math.round(random.between(90, 220))
  const isGrey = random.between(0, 1) < 0.4
  const light = { brightness: random.between(0.6, 1.2), ...(isGrey && { saturation: 0 }) }
  const animal = sharp(file)
    .resize(width, width, { fit: 'inside' })
    .flop(random.between(0, 1) < 0.5)
    .modulate(light)
  const { data, info } = await animal.png().toBuffer({ resolveWithObject: true })
  const part = { left: Math.round(random.between(0, 600)), top: Math.round(random.between(0, 300)) }
  const behind = await sharp(scene)
    .extract({ ...part, width: SIDE, height: SIDE })
    .modulate(isGrey ? { saturation: 0 } : {})
    .toBuffer()
  const [left, top] = [info.width, info.height].map((side) => Math.round(random.between(0, SIDE - side))) as [
    number,
    number,
  ]
  const jpeg = await sharp(behind)
    .composite([{ input: data, left, top }])
    .blur(random.between(0.5, 1.5))
    .jpeg({ quality: Math.round(random.between(60, 90)) })
    .toBuffer()
  const box = { x: left / SIDE, y: top / SIDE, width: info.width / SIDE, height: info.height / SIDE }
  return { image: await imageOf(jpeg), box }
}

async function imageOf(jpeg: Buffer | string): Promise<RgbImage> {
  const { data, info } = await sharp(jpeg)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, stride: info.width * 3, data: new Uint8Array(data) }
}

type Seen = ReadonlyMap<string, readonly View[]>

const exampleOf = ({ features, box }: View, name: string | undefined, place: number): NameExample => ({
  features,
  box,
  hour: (place * 7) % 24,
  camera: 'bench',
  at: place * HOUR_MS,
  name,
})

/** Teaches one name with these views of it, and reviews of other photographs; the rest was never seen. */
function teach(own: readonly View[], seen: Seen, isOwn: (photograph: string) => boolean, random: Random) {
  const others = shuffled(
    [...seen.keys()].filter((photograph) => !isOwn(photograph)),
    random,
  )
  const known = others.slice(0, OTHER_PHOTOGRAPHS).flatMap((photograph) => seen.get(photograph)!)
  const views = shuffled(
    [
      ...own.map((view) => ({ view, name: 'taught' })),
      ...shuffled(known, random)
        .slice(0, OTHER_VIEWS)
        .map((view) => ({ view, name: undefined })),
    ],
    random,
  )
  const learned = learnNames(
    views.map(({ view, name }, i) => exampleOf(view, name, i)),
    ['taught'],
  )
  const isNamed = (view: View) => {
    const found = learned && nameOf(learned.head, exampleOf(view, undefined, 0))
    return found?.isSure === true
  }
  return { hasPassed: learned?.lessons[0]?.hasPassed === true, isNamed, unseen: others.slice(OTHER_PHOTOGRAPHS) }
}

/** The easy half: other views of the same photograph. The hard one: other animals, which nobody reviewed. */
function namesOfPhotographs(seen: Seen, random: Random) {
  const sum = { tried: 0, passed: 0, views: 0, named: 0, others: 0, wrong: 0 }
  const confused = new Set<string>()
  const asked = new Set<string>()
  for (const [photograph, views] of seen) {
    if (views.length <= TAUGHT) continue
    const own = shuffled(views, random)
    const { hasPassed, isNamed, unseen } = teach(own.slice(0, TAUGHT), seen, (one) => one === photograph, random)
    sum.tried += 1
    if (!hasPassed) continue
    sum.passed += 1
    for (const view of own.slice(TAUGHT)) count(isNamed(view), 'views', 'named', sum)
    for (const other of unseen) {
      const wrong = seen.get(other)!.filter(isNamed).length
      sum.others += seen.get(other)!.length
      sum.wrong += wrong
      asked.add(`${photograph} ${other}`)
      if (wrong > seen.get(other)!.length / 2) confused.add(`${photograph} ${other}`)
    }
  }
  return {
    [`names with ${TAUGHT} corrections that pass`]: shareOf(sum.passed, sum.tried, sum.tried),
    'other views of the photograph, named': shareOf(sum.named, sum.views, sum.passed),
    'views of animals that nobody reviewed, named wrong': shareOf(sum.wrong, sum.others, seen.size),
    'pairs of animals that are mostly confused': shareOf(confused.size, asked.size, seen.size),
  }
}

/** Taught by all photographs of a kind but one, which is tested. */
function namesOfSpecies(seen: Seen, random: Random) {
  return Object.fromEntries(
    Object.entries(SPECIES).map(([species, begins]) => {
      const own = [...seen.keys()].filter((photograph) => begins.test(photograph))
      const sum = { passed: 0, views: 0, named: 0 }
      for (const out of own) {
        const views = own.filter((one) => one !== out).flatMap((one) => seen.get(one)!)
        const { hasPassed, isNamed } = teach(
          shuffled(views, random).slice(0, 30),
          seen,
          (one) => own.includes(one),
          random,
        )
        if (!hasPassed) continue
        sum.passed += 1
        for (const view of seen.get(out)!) count(isNamed(view), 'views', 'named', sum)
      }
      const passed = { passed: `${sum.passed} of ${own.length}` }
      return [
        species,
        { ...passed, 'a photograph that it was not taught': shareOf(sum.named, sum.views, own.length).share },
      ]
    }),
  )
}

/**
 * Nights of a reviewer at camera traps: animals are right, parts of empty scenes and of the ground are false alarms.
 * The newest fifth, and what is tested, are of photographs that the verifier was not trained on.
 */
async function verifierNights(footage: string, random: Random) {
  const pictures: (Picture & { isRight: boolean })[] = []
  for (const [name, places] of Object.entries(PHOTOGRAPHED)) {
    const image = await imageOf(join(footage, `${name}.jpg`))
    for (const [left, top, right, bottom] of places)
      pictures.push({
        photograph: name,
        image,
        box: { x: left, y: top, width: right - left, height: bottom - top },
        isRight: true,
      })
  }
  for (const path of emptyScenes(footage)) {
    const image = await imageOf(path)
    for (let i = 0; i < 12; i++) {
      const [width, height] = [random.between(0.05, 0.3), random.between(0.05, 0.3)]
      const box = { x: random.between(0, 1 - width), y: random.between(0, 1 - height), width, height }
      pictures.push({ photograph: `${basename(path)} ${i}`, image, box, isRight: false })
    }
  }
  const sum = { tookOver: 0, right: 0, lost: 0, wrong: 0, heldBack: 0 }
  for (let split = 0; split < SPLITS; split++) {
    const photographs = shuffled([...new Set(pictures.map(({ photograph }) => photograph))], random)
    const half = Math.ceil(photographs.length / 2)
    const [taught, tested] = [photographs.slice(0, half), photographs.slice(half)].map((names) =>
      names.flatMap((name) => pictures.filter(({ photograph }) => photograph === name)),
    ) as [typeof pictures, typeof pictures]
    const list = taught.flatMap((picture) => [0, 1, 2, 3].map(() => picture))
    const rows = new Float32Array(list.length * VERIFIER_FEATURES)
    const examples = list.map(({ isRight }, i) => ({
      label: 'animal',
      at: i * HOUR_MS,
      isRight,
      seq: i,
      isSettled: false,
      isHeldBack: false,
    }))
    for (const [i, picture] of list.entries())
      verifierFeatures(glanceOf(picture, random), rows.subarray(i * VERIFIER_FEATURES, (i + 1) * VERIFIER_FEATURES))
    const night = learn(
      { list: examples, rows, features: VERIFIER_FEATURES },
      { current: new Map(), mayLearn: () => true },
    )
    const [lesson] = night.lessons
    if (lesson?.outcome !== 'better') continue
    sum.tookOver += 1
    for (const picture of tested) {
      const { isHeldBack } = verify(lesson.candidate!, verifierFeatures(glanceOf(picture, random)))
      if (picture.isRight) count(isHeldBack, 'right', 'lost', sum)
      else count(isHeldBack, 'wrong', 'heldBack', sum)
    }
  }
  const photographs = Object.keys(PHOTOGRAPHED).length
  return {
    'nights on which a version took over': shareOf(sum.tookOver, SPLITS, SPLITS),
    'animals of other photographs, lost': shareOf(sum.lost, sum.right, photographs),
    'false alarms of other places, held back': shareOf(sum.heldBack, sum.wrong, photographs),
  }
}

/** Each look at the same place differs a little. */
function glanceOf({ image, box }: Picture, random: Random) {
  const shift = () => random.between(-0.1, 0.1)
  const moved = { ...box, x: box.x + shift() * box.width, y: box.y + shift() * box.height }
  const hour = random.between(0, 24)
  return {
    crop: cropOf(image, moved),
    box: moved,
    score: random.between(0.4, 0.9),
    hour,
    seconds: 1,
    travel: random.between(0.5, 3),
  }
}

function count<K extends string>(isHit: boolean, of: K, hits: K, sum: Record<K, number>): void {
  sum[of] += 1
  if (isHit) sum[hits] += 1
}

/** With Wilson's 95 % interval over pictures: many views of one picture are one picture. */
function shareOf(hits: number, of: number, pictures: number) {
  const share = of === 0 ? 0 : hits / of
  if (pictures < LEAST_PICTURES || of === 0)
    return { share: `${hits} of ${of}; ${pictures} pictures: nothing is claimed`, '95 %': '' }
  const z = 1.96
  const middle = (share + (z * z) / (2 * pictures)) / (1 + (z * z) / pictures)
  const half =
    (z / (1 + (z * z) / pictures)) * Math.sqrt((share * (1 - share)) / pictures + (z * z) / (4 * pictures * pictures))
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`
  return { share: percent(share), '95 %': `${percent(Math.max(0, middle - half))} to ${percent(middle + half)}` }
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const keyed = list.map((value) => ({ value, key: random.between(0, 1) }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value)
}
