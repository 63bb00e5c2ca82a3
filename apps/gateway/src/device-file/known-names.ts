/** Compares the names in gateway.yaml with what its sources provide. */
import { DEMONSTRATION_CLASSES } from '@hedgerow/vision'
import { isPersonLabel } from '../kernel/person-label.ts'
import { DEMONSTRATION, NO_MODEL } from '../sources/eye/schema.ts'
import type { CameraNames } from '../sources/source.ts'
import { nearest, noSuch } from './nearest.ts'
import type { PlacedName } from './names.ts'
import type { DeviceFile } from './schema.ts'
import type { FileError } from './yaml.ts'

export type KnownNames = {
  /** By Frigate's configuration; undefined while that is unknown. */
  frigate: ReadonlyMap<string, CameraNames> | undefined
  /** Cameras that programs have reported. */
  programs: readonly string[]
  /** The labels of each model of the device; undefined when they were not looked up. */
  models?: ReadonlyMap<string, readonly string[]> | undefined
}

/** Each may compare a name with hundreds of others. */
const FINDINGS_MAX = 20
/** What the eye has without a model of the device. */
const OWN_EYES: readonly string[] = [NO_MODEL, DEMONSTRATION]

export type NameFindings = { errors: FileError[]; warnings: FileError[] }

export function checkNames(file: DeviceFile, names: readonly PlacedName[], known: KnownNames): NameFindings {
  const { eye, frigate, api } = file.sources
  const isFrigateUnknown = frigate !== undefined && known.frigate === undefined
  const provided = providedCameras(file, known)
  const findings: NameFindings = { errors: [], warnings: [] }
  const fail = ({ path, line, column }: PlacedName, message: string) =>
    findings.errors.push({ line, column, message: `${path.join('.')}: ${message}` })
  const warn = ({ path, line, column }: PlacedName, message: string) =>
    findings.warnings.push({ line, column, message: `${path.join('.')}: ${message}` })

  function checkCamera(named: PlacedName): void {
    const { name, shown } = named
    const listed = Object.hasOwn(file.cameras, name) ? file.cameras[name] : undefined
    const found = provided.get(name)
    if (found) {
      if (named.what === 'watching camera' && found.seesPersons === false)
        fail(named, `Nothing looks for persons on ${shown}.`)
    } else if (listed?.url !== undefined)
      fail(named, `The eye does not look at ${shown}: add it to sources.eye.cameras.`)
    else if (isFrigateUnknown) warn(named, `Frigate has not said whether it has the camera ${shown}.`)
    else if (!listed || !api) {
      const hint = api ? ' Write a camera that a program reports below `cameras`, as `NAME: {}`.' : ''
      fail(named, noSuch('camera', named, [...provided.keys()]) + hint)
    } else if (named.what === 'watching camera')
      warn(named, `No program has reported the camera ${shown} yet. Until one does, ${named.deterrent} does not fire.`)
  }

  /** Programs may bring it later. */
  function checkListed(named: PlacedName): void {
    if (provided.has(named.name) || api || isFrigateUnknown) return
    const near = nearest(named.name, [...provided.keys()])
    warn(named, `No source has this camera${near === undefined ? '' : `; the nearest is ${near}`}.`)
  }

  /** Zones and labels: any camera of a program may have others. */
  function checkOnCameras(
    named: PlacedName & { cameras?: readonly string[] | undefined },
    key: 'zones' | 'labels',
  ): void {
    const cameras = named.cameras?.map((name) => provided.get(name)) ?? [...provided.values()]
    const all = cameras.map((camera) => camera?.[key])
    const there = [...new Set(all.flatMap((some) => some ?? []))]
    const same = (name: string) => (key === 'labels' ? name.toLowerCase() : name)
    if (there.some((name) => same(name) === same(named.name))) return
    const mayHaveOthers = isFrigateUnknown || (api !== undefined && (key === 'labels' || !named.cameras))
    const isOpen = mayHaveOthers || provided.size === 0 || all.includes(undefined)
    const sentence = noSuch(key.slice(0, -1), named, there)
    if (!isOpen) fail(named, sentence)
    else if (nearest(named.name, there) !== undefined) warn(named, sentence)
  }

  for (const named of names) {
    const { what, name } = named
    if (findings.errors.length + findings.warnings.length >= FINDINGS_MAX) break
    // It is shown to everybody who sees the device, and what it stands for may be secret.
    if (named.shown !== name) fail(named, 'A name cannot come from a variable or a file: write it out.')
    else if (what === 'name') continue
    else if (what === 'camera' || what === 'watching camera') checkCamera(named)
    else if (what === 'listed camera') checkListed(named)
    else if (what === 'zone') checkOnCameras(named, 'zones')
    else if (what === 'label') checkOnCameras(named, 'labels')
    else if (what === 'camera of Frigate') {
      if (known.frigate?.has(name) === false) fail(named, noSuch('camera', named, [...known.frigate.keys()]))
    } else if (what === 'label of the eye') {
      const labels = eye && labelsOfModel(eye.model, known)
      if (labels && !labels.includes(name)) fail(named, noSuch('label', named, labels))
    } else if (known.models && !OWN_EYES.includes(name) && !known.models.has(name))
      fail(named, `${noSuch('model', named, [...known.models.keys()])} Add it with: hedgerow-gateway model add`)
  }
  const hasNoCamera = [...provided.values()].every(({ seesPersons }) => seesPersons === false) && !isFrigateUnknown
  for (const [name, { watchedBy }] of Object.entries(file.deterrents))
    if (watchedBy ? watchedBy.length === 0 : hasNoCamera)
      findings.warnings.push({
        line: 1,
        column: 1,
        message: `No camera watches ${name}: it fires whether a person is there or not.`,
      })
  return findings
}

/** The cameras from which something reports, by name. */
function providedCameras({ sources, cameras }: DeviceFile, known: KnownNames): ReadonlyMap<string, CameraNames> {
  const { eye, frigate } = sources
  const found = new Map<string, CameraNames>(known.programs.map((name) => [name, {}]))
  for (const [name, own] of known.frigate ?? [])
    if (frigate && (!frigate.cameras || frigate.cameras.includes(name))) found.set(name, own)
  for (const name of eye?.cameras ?? []) {
    const zones = Object.keys(cameras[name]?.zones ?? {})
    const ofModel = labelsOfModel(eye!.model, known)
    const labels = ofModel?.filter((label) => eye!.labels?.includes(label) ?? true)
    // Persons are looked for also when `labels` does not name them.
    if (eye!.model === NO_MODEL) found.set(name, { zones, seesPersons: false })
    else found.set(name, { zones, ...(labels && { labels, seesPersons: ofModel!.some(isPersonLabel) }) })
  }
  return found
}

/** Undefined without a model: what that means for labels is a warning with its own words. */
function labelsOfModel(model: string, { models }: KnownNames): readonly string[] | undefined {
  return model === DEMONSTRATION ? DEMONSTRATION_CLASSES.slice(1) : models?.get(model)
}
