/**
 * The eye with a real model on real pictures: persons, photographs of camera traps, and disturbances over empty scenes.
 * The pictures are other people's, so they are no part of this repository: TEST_FOOTAGE names their folder.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAnimalLabel } from '@hedgerow/contract'
import { clipToPicture, createMotionDetector, intersectionOf, lumaOf, type Box, type RgbImage } from '@hedgerow/vision'
import { decodeJpeg, OWN_SIDE } from '../apps/gateway/src/cameras/decode.ts'
import { ofLabel } from '../apps/gateway/src/kernel/of-label.ts'
import { addModel } from '../apps/gateway/src/models/add.ts'
import { openModel, type Model } from '../apps/gateway/src/models/model.ts'
import { createGlimpses } from '../apps/gateway/src/sources/eye/glimpses.ts'
import { modelRecogniser } from '../apps/gateway/src/sources/eye/recogniser.ts'
import { film, watchFilm, type Watched } from './eye-clips.ts'
import { DISTURBANCES, type Disturbance } from './eye-disturbances.ts'
import { PHOTOGRAPHED } from './eye-photographs.ts'
import { median, report } from './report.ts'

const MODEL = 'ssdlite-coco'
const SECONDS = 12
/** Photographs without an animal: a forest, and infrared light. */
const SCENES = ['sn-blank2.jpg', 'sn-blank3.jpg']
const PERSONS = { file: 'one-by-one-person.mp4', count: 6 }
/** Of 17 objects. */
const SQUARES_GOAL = 13
const SQUARES_OF = 17
const FALLBACK_SCORE = 0.6

type Rows = Record<string, Record<string, number | string>>
const judged = (isMet: boolean, words: string) => `${words}: ${isMet ? 'met' : 'missed'}`
const wordsOf = ({ detections }: Watched) =>
  detections.map(({ label, score }) => `${label} ${score.toFixed(2)}`).join(', ')

export async function benchFootage(): Promise<void> {
  const footage = process.env['TEST_FOOTAGE']
  if (footage === undefined || !existsSync(join(footage, PERSONS.file)))
    return console.log('skipped: real pictures (TEST_FOOTAGE names their folder)')
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-footage-'))
  try {
    await addModel({
      what: MODEL,
      acceptedLicence: 'Apache-2.0',
      folder,
      fromHub: async () => undefined,
      confirm: async () => false,
      print: console.log,
    })
    const model = openModel({
      folder,
      name: MODEL,
      threads: 1,
      leastScore: 0.1,
      log: { info() {}, error: console.error },
    })
    try {
      report('eye, animals of photographs: five looks at each, its place known', await photographs(footage, model))
      report('eye, disturbances over empty scenes', await disturbances(footage, model))
      report('eye, persons who enter one by one', await persons(footage, model))
    } finally {
      await model.stop()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Five looks at each animal, as motion would aim them: whether the median of the scores reaches that of its label. */
async function photographs(footage: string, model: Model): Promise<Rows> {
  const rows: Rows = {}
  const sum = { objects: 0, whole: 0, squares: 0, before: 0, now: 0 }
  for (const [name, places] of Object.entries(PHOTOGRAPHED)) {
    const own = await decodeJpeg(await readFile(join(footage, `${name}.jpg`)), false, OWN_SIDE)
    const image = await decodeJpeg(await readFile(join(footage, `${name}.jpg`)))
    for (const [i, [left, top, right, bottom]] of places.entries()) {
      const place = { x: left, y: top, width: right - left, height: bottom - top }
      const found = (regions: number) => looks(model, { own, image }, place, regions)
      const [whole, squares] = [await found(0), await found(2)]
      sum.objects++
      if (whole.isFound) sum.whole++
      if (squares.isFound) sum.squares++
      sum.before += squares.water.before
      sum.now += squares.water.now
      rows[places.length > 1 ? `${name}, ${i + 1}` : name] = { 'whole picture': whole.words, squares: squares.words }
    }
  }
  const isMet = sum.squares * SQUARES_OF >= SQUARES_GOAL * sum.objects
  const goal = judged(isMet, `${SQUARES_GOAL} of ${SQUARES_OF}`)
  return {
    ...rows,
    [`found, of ${sum.objects}`]: { 'whole picture': sum.whole, squares: `${sum.squares} (${goal})` },
    [`looks that keep water off, of ${sum.objects * AIMS.length}`]: {
      squares: `${sum.now}; by one look ${sum.before}`,
    },
  }
}

/** From this score on, one look kept water off before. */
const POSSIBLE_PERSON = 0.25
/** Motion finds an object as blocks of 8 pixels of the picture that is looked at: so many pixels more on each side. */
const AIMS = [0, 2, 4, 6, 8]

async function looks(model: Model, { own, image }: { own: RgbImage; image: RgbImage }, place: Box, regions: number) {
  const recogniser = modelRecogniser(model, () => ({ masks: [], regions }))
  const frame = { image, luma: lumaOf(image), atMs: 0, own: async () => own }
  const best: { label: string; score: number }[] = []
  /** In how many looks an animal kept water off as a person: by one look, as before, and by the rule of today. */
  const water = { before: 0, now: 0 }
  let isBlocked = false
  const glimpses = createGlimpses(200, (label) => (isBlocked ||= label === 'person'))
  for (const [i, more] of AIMS.entries()) {
    const [dx, dy] = [more / image.width, more / image.height]
    const { x, y, width, height } = place
    const aimed = clipToPicture({ x: x - dx, y: y - dy, width: width + 2 * dx, height: height + 2 * dy })
    const looked = await recogniser.look('bench', frame, {
      boxes: [aimed],
      isWhole: regions === 0,
      isUnknown: true,
      usualSide: () => 0,
    })
    isBlocked = false
    glimpses.see(looked?.all ?? [], i * 200)
    if (isBlocked) water.now++
    if (looked?.all.some((one) => one.label === 'person' && one.score >= POSSIBLE_PERSON)) water.before++
    const there = looked?.sightings.filter(({ box }) => intersectionOf(box, place) > 0) ?? []
    best.push(there[0] ?? { label: 'nothing', score: 0 })
  }
  const score = median(best.map((one) => one.score))
  const counts = Map.groupBy(best, ({ label }) => label)
  const [label = ''] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? []
  const least = ofLabel(model.scores(), label) ?? FALLBACK_SCORE
  return { water, isFound: isAnimalLabel(label) && score >= least, words: `${label} ${score.toFixed(2)}` }
}

async function disturbances(footage: string, model: Model): Promise<Rows> {
  const rows: Rows = {}
  const sum = { pictures: 0, before: 0, looks: 0, runs: 0, detections: 0, persons: 0 }
  for (const scene of SCENES)
    for (const [name, disturbance] of Object.entries(DISTURBANCES)) {
      const pictures = await picturesOf(join(footage, scene), disturbance)
      const before = looksAtAllMotion(pictures)
      const watched = await watchFilm(model, pictures)
      sum.pictures += pictures.length
      sum.before += before
      sum.looks += watched.looks
      sum.runs += watched.runs
      sum.detections += watched.detections.length
      sum.persons += watched.persons.length
      const { looks: now, runs, persons: glimpses } = { ...watched, persons: watched.persons.length }
      rows[`${name}, ${scene}`] = { before, looks: now, runs, persons: glimpses, detections: wordsOf(watched) }
    }
  rows['all'] = {
    before: sum.before,
    looks: judged(sum.looks * 3 <= sum.before, `${sum.looks} of a third`),
    runs: sum.runs,
    persons: sum.persons,
    detections: judged(sum.detections === 0, `${sum.detections} of 0`),
  }
  return rows
}

/** As the eye looked before: at each picture in which anything moves, and at one every five seconds. */
function looksAtAllMotion(pictures: readonly RgbImage[]): number {
  const motion = createMotionDetector({ size: pictures[0]! })
  let lookedAt = -Infinity
  let count = 0
  for (const [i, picture] of pictures.entries()) {
    const atMs = i * 200
    if (motion.detect(lumaOf(picture), atMs).regions.length === 0 && atMs - lookedAt < 5_000) continue
    lookedAt = atMs
    count++
  }
  return count
}

async function picturesOf(photograph: string, { filter, inputs = [], bitRate }: Disturbance): Promise<RgbImage[]> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-clip-'))
  try {
    const [scene, clip] = [join(folder, 'scene.png'), join(folder, 'clip.mp4')]
    ffmpeg(['-i', photograph, '-vf', 'scale=640:360', scene])
    const made = ['-loop', '1', '-framerate', '10', '-t', String(SECONDS), '-i', scene, ...inputs]
    if (bitRate === undefined) return await Array.fromAsync(film(made, filter, SECONDS))
    const coder = [
      '-c:v',
      'libx264',
      '-threads',
      '1',
      '-preset',
      'veryfast',
      '-g',
      '20',
      '-b:v',
      bitRate,
      '-maxrate',
      bitRate,
    ]
    ffmpeg([...made, '-filter_complex', filter, '-t', String(SECONDS), ...coder, '-bufsize', bitRate, clip])
    return await Array.fromAsync(film(['-i', clip], 'null', SECONDS))
  } finally {
    await rm(folder, { recursive: true })
  }
}

function ffmpeg(args: string[]): void {
  const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args])
  if (status !== 0) throw new Error(`FFmpeg: ${stderr.toString().slice(0, 400)}`)
}

async function persons(footage: string, model: Model): Promise<Rows> {
  const watched = await watchFilm(model, film(['-i', join(footage, PERSONS.file)], 'null'))
  const found = watched.detections.filter(({ label }) => label === 'person').length
  const isMet = found === PERSONS.count && watched.detections.length === PERSONS.count
  return {
    [PERSONS.file]: {
      pictures: watched.pictures,
      looks: watched.looks,
      runs: watched.runs,
      detections: wordsOf(watched),
      '': judged(isMet, `${PERSONS.count} persons, one detection each`),
    },
  }
}
