/** Which cameras look for persons where a deterrent acts, and why a firing must wait for them. Pure. */
import { isSameName } from '../kernel/same-name.ts'
import { refusal, type Refusal } from './refusals.ts'
import type { Asker } from './saved-state.ts'
import type { DeterrentSettings } from './schema.ts'

/**
 * Whether a person on a camera would be reported now: `looking`. `dark`: it gives no picture, or nothing looks at its
 * pictures. `silent`: no program has said for some time that it looks. `missing`: gateway.yaml lists it, and no source
 * has it. `off`: its owner has switched it off. `unable`: what looks there knows no persons, so it can watch nothing.
 */
export type CameraState = 'looking' | 'dark' | 'silent' | 'missing' | 'off' | 'unable'
export type CameraWatch = ReadonlyMap<string, CameraState>

/** All that the device knows of its cameras at one moment. */
export type Watch = {
  cameras: CameraWatch
  /** False while a source of the file has not said which cameras it has. */
  isComplete: boolean
}

/** Nobody looked for persons before this firing; in the ledger. */
export const NOBODY_LOOKS = 'No camera looked for persons.'

/** Whether persons do not matter: people at the device see for themselves, and a rule may be about persons. */
export function isUnwatched(by: Asker): boolean {
  return by.kind === 'rule' ? by.aboutPersons : by.kind === 'person' && by.via === 'device'
}

/** Whether a person on this camera keeps the deterrent off. */
export function isWatching(camera: string, by: Asker, { watchedBy }: Settings): boolean {
  if (isUnwatched(by)) return false
  const isIt = (name: string) => isSameName(name, camera)
  return (watchedBy?.some(isIt) ?? true) || (by.kind === 'rule' && by.cameras.some(isIt))
}

/** Why nobody can know whether a person is there; undefined when the cameras look, or the device has none that can. */
export function whyBlind(by: Asker, settings: Settings, watch: Watch): Refusal | undefined {
  if (isUnwatched(by)) return undefined
  const { cameras, isAll } = watchersOf(by, settings, watch)
  if (isAll && !watch.isComplete) return refusal('not_watched', 'a source has not said yet which cameras it has')
  const unknown = cameras.find(([, state]) => state === undefined)
  // What no camera has is not shown; `check` and the heartbeat name its line.
  if (unknown) return refusal(watch.isComplete ? 'watcher_unknown' : 'not_watched')
  const blind = cameras.find(([, state]) => state !== 'looking')
  return blind && refusal('not_watched', `${blind[0]}${WHY[blind[1]!]}`)
}

/** Whether a firing that `whyBlind` allows happens without anybody who looks. */
export function hasNoWatcher(by: Asker, settings: Settings, watch: Watch): boolean {
  return !isUnwatched(by) && watchersOf(by, settings, watch).cameras.length === 0
}

type Settings = Pick<DeterrentSettings, 'watchedBy'>
/** The state is undefined for a camera that the device does not have. */
type Watcher = readonly [camera: string, state: CameraState | undefined]

const WHY: Readonly<Record<CameraState, string>> = {
  looking: '',
  dark: '',
  silent: ': no program has said for two minutes that it looks',
  missing: ': no source has it',
  off: ': it is switched off',
  unable: ': what looks at it knows no persons',
}

/**
 * The cameras that must look: those of `watchedBy`; without it those of the rule that fires, and for everybody else all
 * of the device (docs/decisions/061).
 */
function watchersOf(by: Asker, { watchedBy }: Settings, watch: Watch): { cameras: Watcher[]; isAll: boolean } {
  const named = (names: readonly string[]) =>
    names.flatMap((name): Watcher[] => {
      const found = [...watch.cameras].filter(([camera]) => isSameName(camera, name))
      return found.length > 0 ? found : [[name, undefined]]
    })
  if (watchedBy) return { cameras: named(watchedBy), isAll: false }
  const isOn = ([, state]: Watcher) => state !== 'off' && state !== 'unable'
  const ofRule = by.kind === 'rule' ? named(by.watchers).filter(isOn) : []
  if (ofRule.length > 0) return { cameras: ofRule, isAll: false }
  const able = [...watch.cameras].filter(([, state]) => state !== 'unable')
  const on = able.filter(isOn)
  return { cameras: on.length > 0 ? on : able, isAll: true }
}
