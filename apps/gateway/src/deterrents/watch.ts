/** Which cameras look for persons where a deterrent acts, and why a firing must wait for them. Pure. */
import { refusal, type Refusal } from './refusals.ts'
import type { Asker } from './saved-state.ts'
import type { DeterrentSettings } from './schema.ts'

/**
 * Whether a person on a camera would be reported now: `looking`. `dark`: it gives no picture, or nothing looks at its
 * pictures. `off`: its owner has switched it off. `unable`: what looks there knows no persons, so it can watch nothing.
 */
export type CameraWatch = ReadonlyMap<string, 'looking' | 'dark' | 'off' | 'unable'>

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
export function isWatching(camera: string, by: Asker, { watchedBy }: Pick<DeterrentSettings, 'watchedBy'>): boolean {
  if (isUnwatched(by)) return false
  // A program that writes a name in another case means the same camera.
  const isIt = (name: string) => name.toLowerCase() === camera.toLowerCase()
  return (watchedBy?.some(isIt) ?? true) || (by.kind === 'rule' && by.cameras.some(isIt))
}

/** Why nobody can know whether a person is there; undefined when the cameras look, or the device has none that can. */
export function whyBlind(
  by: Asker,
  { watchedBy }: Pick<DeterrentSettings, 'watchedBy'>,
  { cameras, isComplete }: Watch,
): Refusal | undefined {
  if (isUnwatched(by)) return undefined
  if (watchedBy) {
    // What no camera has is not shown; `check` and the heartbeat name its line.
    if (watchedBy.some((camera) => !cameras.has(camera))) return refusal(isComplete ? 'watcher_unknown' : 'not_watched')
  } else if (!isComplete) return refusal('not_watched', 'Frigate has not said yet which cameras it has')
  const able = ableOf(cameras)
  const watching = watchedBy ?? able.filter((camera) => cameras.get(camera) !== 'off')
  const blind = watching.find((camera) => cameras.get(camera) !== 'looking')
  if (blind !== undefined) return refusal('not_watched', blind)
  const isNobodyLeft = !watchedBy && watching.length === 0 && able.length > 0
  return isNobodyLeft ? refusal('not_watched', 'all cameras are switched off') : undefined
}

/** Whether a firing that `whyBlind` allows happens without anybody who looks. */
export function hasNoWatcher(
  by: Asker,
  { watchedBy }: Pick<DeterrentSettings, 'watchedBy'>,
  { cameras }: Watch,
): boolean {
  return !isUnwatched(by) && (watchedBy ?? ableOf(cameras)).length === 0
}

/** The cameras that can watch, now or when somebody switches them on. */
function ableOf(cameras: CameraWatch): string[] {
  return [...cameras].flatMap(([camera, state]) => (state === 'unable' ? [] : [camera]))
}
