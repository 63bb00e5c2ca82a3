/** Snoozes of the device and of its cameras, and maintenance: until each ends by the monotonic clock. Pure. */
import { SNOOZES_MAX, type Snooze as SnoozeState, type SnoozeKind } from '@hedgerow/contract'
import { isSameName } from '../kernel/same-name.ts'
import type { NewLedgerEntry } from './ledger-entry.ts'
import { inWords, monoOf, onWall, type Asker, type Instant, type SavedState } from './saved-state.ts'

/** Without a camera it is about the whole device. */
export type Scope = { kind: SnoozeKind; camera?: string | undefined }
type Snooze = Scope & { by: Asker; at: Instant; seconds: number }
type Entry = Omit<NewLedgerEntry, 'at'>

/** What begins or ends is an entry of the ledger. */
export function createSnoozes(saved: SavedState | undefined, boot: string, now: Instant) {
  let all: Snooze[] = (saved?.snoozes ?? []).map((one) => ({
    ...one,
    at: onWall(monoOf(one.at, saved!.boot, boot, now), now),
  }))
  const endOf = ({ at, seconds }: Snooze) => at.mono + seconds * 1_000

  function remove(is: (one: Snooze) => boolean, why: Pick<Entry, 'by' | 'message'>): Entry[] {
    const removed = all.filter(is)
    all = all.filter((one) => !is(one))
    return removed.map(({ camera }) => ({ kind: 'snooze-ended', ...(camera !== undefined && { camera }), ...why }))
  }

  return {
    /** The whole device is snoozed, or this camera. */
    isOn: (camera?: string): boolean =>
      all.some((one) => one.camera === undefined || (camera !== undefined && isSameName(one.camera, camera))),

    /** By the wall clock. */
    list: (): SnoozeState[] =>
      all.map(({ kind, camera, by, at, seconds }) => {
        const begun = Math.max(0, Math.round(at.wall))
        return { kind, camera: camera ?? null, by: inWords(by), at: begun, until: begun + seconds * 1_000 }
      }),

    /** The later one of two for the same counts. Undefined when there are too many others. */
    begin(next: Snooze): Entry | undefined {
      const others = all.filter((one) => !isAbout(one, next))
      if (others.length >= SNOOZES_MAX) return undefined
      all = [...others, next]
      const { kind, camera, by, at, seconds } = next
      const until = Math.round(at.wall + seconds * 1_000)
      return { kind: kind === 'snooze' ? 'snoozed' : kind, by, until, ...(camera !== undefined && { camera }) }
    },

    end: (scope: Scope, by: Asker): Entry[] => remove((one) => isAbout(one, scope), { by }),
    /** Those of the whole device. */
    endWhole: (by: Asker): Entry[] => remove(({ camera }) => camera === undefined, { by }),
    endOver: (now: Instant): Entry[] => remove((one) => now.mono >= endOf(one), { message: 'its time is over' }),
    nextEnd: (): number => Math.min(Infinity, ...all.map(endOf)),

    /** The wall clock was set. */
    onClockSet(now: Instant): void {
      all = all.map((one) => ({ ...one, at: onWall(one.at.mono, now) }))
    },

    /** To an older agent, which knows no snoozes, a snoozed device is disarmed. */
    saved(disarmed: SavedState['disarmed']): Pick<SavedState, 'disarmed' | 'snoozes'> {
      const whole = all.find(({ camera }) => camera === undefined)
      const asDisarmed = whole && { by: whole.by, at: whole.at, seconds: whole.seconds, isSnooze: true }
      const either = disarmed ?? asDisarmed
      return { snoozes: all, ...(either && { disarmed: either }) }
    },
  }
}

function isAbout(one: Scope, { kind, camera }: Scope): boolean {
  if (one.kind !== kind) return false
  return one.camera === undefined || camera === undefined ? one.camera === camera : isSameName(one.camera, camera)
}
