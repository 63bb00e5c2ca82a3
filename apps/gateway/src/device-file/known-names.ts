/** Compares the names in gateway.yaml with what its sources provide. */
import { meansLabel } from '@hedgerow/contract'
import { DEMONSTRATION_CLASSES } from '@hedgerow/vision'
import { isCameraName } from '../cameras/schema.ts'
import type { SeenNames } from '../detections/record.ts'
import { isPersonLabel } from '../kernel/person-label.ts'
import type { KnownName } from '../learning/names.ts'
import { nameKey } from '../kernel/same-name.ts'
import { DEMONSTRATION, NO_MODEL } from '../sources/eye/schema.ts'
import type { CameraNames } from '../sources/source.ts'
import { noSuch, theNearest } from '../kernel/nearest.ts'
import type { PlacedName } from './names.ts'
import type { DeviceFile } from './schema.ts'
import type { FileError } from './yaml.ts'

export type KnownNames = {
  /** By Frigate's configuration; undefined while that is unknown. */
  frigate: ReadonlyMap<string, CameraNames> | undefined
  /** Cameras that programs have reported. */
  programs: readonly string[]
  /** What recent detections name: probably meant, where a source has not said what it has. */
  seen?: SeenNames | undefined
  /** The labels of each model of the device; undefined when they were not looked up. */
  models?: ReadonlyMap<string, readonly string[]> | undefined
  /** Names that the device learns from corrections. */
  learned?: readonly KnownName[] | undefined
}

/** Errors, and warnings beside them: a file decides how many there are. */
const FINDINGS_MAX = 20
/** Each compares a name with hundreds of others, on the thread that stops water. */
const SEARCHES_MAX = 40
/** Offered where any label may come. */
const USUAL_LABELS = DEMONSTRATION_CLASSES.slice(1)
/** What the eye has without a model of the device. */
const OWN_EYES: readonly string[] = [NO_MODEL, DEMONSTRATION]

export type NameFindings = { errors: FileError[]; warnings: FileError[] }

export function checkNames(file: DeviceFile, names: readonly PlacedName[], knownNames: KnownNames): NameFindings {
  const { eye, frigate, api } = file.sources
  const isFrigateUnknown = frigate !== undefined && knownNames.frigate === undefined
  const mayHaveMore = isFrigateUnknown || api !== undefined
  const provided = providedCameras(file, knownNames)
  const seen = (mayHaveMore && knownNames.seen) || { cameras: [], labels: [], zones: [] }
  /** Frigate's persons are reported of all its cameras, whichever `sources.frigate.cameras` names. */
  const watching = new Map([...((frigate && knownNames.frigate) ?? []), ...provided])
  const reported = new Set(knownNames.programs.map(nameKey))
  // A value of a secret is no name to tell.
  const ofFrigate = names.flatMap(({ what, name, shown }) =>
    what === 'camera of Frigate' && shown === name ? [name] : [],
  )
  const cameras = [...provided.keys(), ...Object.keys(file.cameras), ...ofFrigate, ...seen.cameras]
  const findings: NameFindings = { errors: [], warnings: [] }
  const fail = ({ path, line, column }: PlacedName, message: string) =>
    findings.errors.push({ line, column, path, message: `${path.join('.')}: ${message}` })
  function warn({ path, line, column }: PlacedName, message: string): void {
    if (findings.warnings.length < FINDINGS_MAX)
      findings.warnings.push({ line, column, path, message: `${path.join('.')}: ${message}` })
  }
  const learnedNames = new Map((knownNames.learned ?? []).map((one) => [nameKey(one.name), one]))
  let searches = 0
  const nearestOf = (named: PlacedName, candidates: readonly string[]) =>
    searches++ < SEARCHES_MAX ? theNearest(named, candidates) : ''
  const warnOfFrigate = (named: PlacedName, candidates: readonly string[]) =>
    warn(named, `Frigate has not said whether it has the camera ${named.shown}${nearestOf(named, candidates)}.`)

  function checkCamera(named: PlacedName): void {
    const { name, shown } = named
    const listed = Object.hasOwn(file.cameras, name) ? file.cameras[name] : undefined
    const found = (named.what === 'watching camera' ? watching : provided).get(name)
    if (found) {
      if (named.what === 'watching camera' && found.seesPersons === false)
        fail(named, `Nothing looks for persons on ${shown}.`)
    } else if (listed?.url !== undefined)
      fail(named, `The eye does not look at ${shown}: add it to sources.eye.cameras.`)
    // A program cannot know how the file writes the name.
    else if (listed && reported.has(nameKey(name))) return
    else if (isFrigateUnknown) warnOfFrigate(named, cameras)
    else if (api && (listed || !isCameraName(name))) {
      if (named.what === 'watching camera' || !listed)
        warn(named, `No program has reported the camera ${shown} yet${nearestOf(named, cameras)}.${waits(named)}`)
    } else {
      const hint = api ? ' Write a camera that a program reports below `cameras`, as `NAME: {}`.' : ''
      fail(named, noSuch('camera', named, [...provided.keys()], cameras) + hint)
    }
  }

  const waits = (named: PlacedName) =>
    named.what === 'watching camera' ? ` Until one does, ${named.deterrent} does not fire.` : ''

  /** Listed cameras from which nothing comes. */
  const blind = Object.entries(file.cameras).flatMap(([name, { url }]) => {
    const mayCome = isFrigateUnknown && url === undefined
    return provided.has(name) || reported.has(nameKey(name)) || mayCome ? [] : [name]
  })
  const isBlind = new Set(blind)
  const able = [...watching.values()].filter(({ seesPersons }) => seesPersons !== false)

  /** Programs may bring it later. */
  function checkListed(named: PlacedName): void {
    if (!isBlind.has(named.name)) return
    const near = nearestOf(named, cameras)
    if (!api || near !== '') warn(named, `No source has this camera${near}.`)
  }

  /** Without `watchedBy` all cameras watch. */
  function checkWatch(named: PlacedName): void {
    const watchedBy = file.deterrents[named.name]?.watchedBy
    if (watchedBy ? watchedBy.length === 0 : able.length + blind.length === 0 && !isFrigateUnknown)
      warn(named, `No camera watches ${named.name}: it fires whether a person is there or not.`)
    else if (!watchedBy && blind.length > 0)
      warn(
        named,
        `Nothing looks at ${blind.slice(0, FINDINGS_MAX).join(', ')}, so programs and people in the hub cannot ` +
          `fire ${named.name}. \`watchedBy\` names the cameras that matter.`,
      )
  }

  /** What these cameras have of a kind, gathered once for all names of a rule; undefined stands for all cameras. */
  function gather(cameras: readonly string[] | undefined, key: 'zones' | 'labels') {
    const all = (cameras?.map((name) => provided.get(name)) ?? [...provided.values()]).map((one) => one?.[key])
    const there = new Set(all.flatMap((some) => some ?? []))
    const likely = new Set([...there, ...seen[key], ...(key === 'labels' ? USUAL_LABELS : [])])
    const keysOf = (names: ReadonlySet<string>) => new Set(key === 'labels' ? [...names].map(nameKey) : names)
    const isOpen =
      isFrigateUnknown ||
      (api !== undefined && (key === 'labels' || !cameras)) ||
      provided.size === 0 ||
      all.includes(undefined)
    return { there, thereKeys: keysOf(there), likely: [...likely], likelyKeys: keysOf(likely), isOpen }
  }
  const gathered = {
    zones: new Map<unknown, ReturnType<typeof gather>>(),
    labels: new Map<unknown, ReturnType<typeof gather>>(),
  }

  /** Zones and labels: any camera of a program may have others. */
  function checkOnCameras(
    named: PlacedName & { cameras?: readonly string[] | undefined },
    key: 'zones' | 'labels',
  ): void {
    const { there, thereKeys, likely, likelyKeys, isOpen } = gathered[key].getOrInsertComputed(named.cameras, () =>
      gather(named.cameras, key),
    )
    const own = key === 'labels' ? nameKey(named.name) : named.name
    const learned = key === 'labels' ? learnedNames.get(own) : undefined
    if (learned?.reason !== undefined && !thereKeys.has(own)) {
      const message = `${named.shown} is a name that this gateway learns. ${learned.reason}`
      return isOpen ? warn(named, message) : void fail(named, message)
    }
    if (thereKeys.has(own) || (key === 'labels' && [...there].some((label) => meansLabel(named.name, label)))) return
    if (!isOpen) return void fail(named, noSuch(key.slice(0, -1), named, [...there]))
    const near = likelyKeys.has(own) ? '' : nearestOf(named, likely)
    if (near) warn(named, `No source has reported the ${key.slice(0, -1)} ${named.shown} yet${near}.`)
  }

  for (const named of names) {
    const { what, name } = named
    if (findings.errors.length >= FINDINGS_MAX) break
    // It is shown to everybody who sees the device, and what it stands for may be secret.
    if (named.shown !== name) fail(named, 'A name cannot come from a variable or a file: write it out.')
    else if (what === 'name') continue
    else if (what === 'camera' || what === 'watching camera') checkCamera(named)
    else if (what === 'listed camera') checkListed(named)
    else if (what === 'zone') checkOnCameras(named, 'zones')
    else if (what === 'label') checkOnCameras(named, 'labels')
    else if (what === 'deterrent') checkWatch(named)
    else if (what === 'camera of Frigate') {
      if (!knownNames.frigate) warnOfFrigate(named, [...Object.keys(file.cameras), ...seen.cameras])
      else if (!knownNames.frigate.has(name)) fail(named, noSuch('camera', named, [...knownNames.frigate.keys()]))
    } else if (what === 'label of the eye') {
      const labels = eye && labelsOfModel(eye.model, knownNames)
      if (labels && !labels.some((each) => meansLabel(name, each))) fail(named, noSuch('label', named, labels))
    } else if (knownNames.models && !OWN_EYES.includes(name) && !knownNames.models.has(name))
      fail(named, `${noSuch('model', named, [...knownNames.models.keys()])} Add it with: hedgerow-gateway model add`)
  }
  return findings
}

/** The names that a form offers: what the sources have, and what recent detections name. */
export type OfferedNames = { labels: string[]; cameras: { name: string; zones: string[] }[] }

export function offeredNames(file: DeviceFile, knownNames: KnownNames): OfferedNames {
  const provided = providedCameras(file, knownNames)
  const { seen } = knownNames
  const labels = [...provided.values()].flatMap((one) => one.labels ?? [])
  const cameras = new Set([...provided.keys(), ...(seen?.cameras ?? [])])
  return {
    labels: [...new Set([...labels, ...(seen?.labels ?? [])])].toSorted(),
    cameras: [...cameras].map((name) => ({ name, zones: [...(provided.get(name)?.zones ?? [])] })),
  }
}

/** The cameras from which something reports, by name. */
function providedCameras({ sources, cameras }: DeviceFile, knownNames: KnownNames): ReadonlyMap<string, CameraNames> {
  const { eye, frigate } = sources
  const found = new Map<string, CameraNames>(knownNames.programs.map((name) => [name, {}]))
  for (const [name, own] of knownNames.frigate ?? [])
    if (frigate && (!frigate.cameras || frigate.cameras.includes(name))) found.set(name, own)
  const passed = (knownNames.learned ?? []).flatMap(({ name, reason }) => (reason === undefined ? [name] : []))
  for (const name of eye?.cameras ?? []) {
    const zones = Object.keys(cameras[name]?.zones ?? {})
    const ofModel = labelsOfModel(eye!.model, knownNames)
    const wanted = ofModel?.filter((label) => eye!.labels?.some((each) => meansLabel(each, label)) ?? true)
    const labels = wanted && [...wanted, ...passed]
    // Persons are looked for also when `labels` does not name them.
    if (eye!.model === NO_MODEL) found.set(name, { zones, seesPersons: false })
    else found.set(name, { zones, ...(labels && { labels, seesPersons: ofModel!.some(isPersonLabel) }) })
  }
  return found
}

/** Undefined without a model: what that means for labels is a warning with its own words. */
function labelsOfModel(model: string, { models }: KnownNames): readonly string[] | undefined {
  return model === DEMONSTRATION ? USUAL_LABELS : models?.get(model)
}
