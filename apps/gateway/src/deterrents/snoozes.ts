/** Snoozes of the device and of its cameras, and maintenance: until each ends by the monotonic clock. Pure. */
import { SNOOZES_MAX, type SnoozeKind } from '@hedgerow/contract'
import { isSameName } from '../kernel/same-name.ts'
import { monoOf, onWall, type Asker, type Instant, type SavedState } from './saved-state.ts'

/** Without a camera it is about the whole device. */
export type Scope = { kind: SnoozeKind; camera?: string | undefined }
export type Snooze = Scope & { by: Asker; at: Instant; seconds: number }

export function createSnoozes(saved: SavedState | undefined, boot: string, now: Instant) {
  let all: Snooze[] = (saved?.snoozes ?? []).map((one) => ({
    ...one,
    at: onWall(monoOf(one.at, saved!.boot, boot, now), now),
  }))
  const endOf = ({ at, seconds }: Snooze) => at.mono + seconds * 1_000
  const remove = (is: (one: Snooze) => boolean): Snooze[] => {
    const removed = all.filter(is)
    all = all.filter((one) => !is(one))
    return removed
  }
  const isAbout = (one: Scope, { kind, camera }: Scope) =>
    one.kind === kind &&
    (one.camera === undefined || camera === undefined ? one.camera === camera : isSameName(one.camera, camera))

  return {
    all: (): readonly Snooze[] => all,
    /** The whole device is snoozed, or this camera. */
    isOn: (camera: string | undefined): boolean =>
      all.some((one) => one.camera === undefined || (camera !== undefined && isSameName(one.camera, camera))),
    /** The later one counts. False when there are too many others. */
    begin(next: Snooze): boolean {
      const others = all.filter((one) => !isAbout(one, next))
      if (others.length >= SNOOZES_MAX) return false
      all = [...others, next]
      return true
    },
    end: (scope: Scope): Snooze[] => remove((one) => isAbout(one, scope)),
    /** Those of the whole device. */
    endWhole: (): Snooze[] => remove(({ camera }) => camera === undefined),
    endOver: (now: Instant): Snooze[] => remove((one) => now.mono >= endOf(one)),
    nextEnd: (): number => Math.min(Infinity, ...all.map(endOf)),
    /** The wall clock was set. */
    onClockSet(now: Instant): void {
      all = all.map((one) => ({ ...one, at: onWall(one.at.mono, now) }))
    },
  }
}
