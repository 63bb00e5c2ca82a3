/**
 * The eight rules of safety (docs/operations/deterrents.md), in one place: nothing is switched on unless `request` here
 * said so. A state machine without I/O: clocks and random ids are arguments, and every decision is a value in the
 * outputs. Only reports of devices count: a deterrent that is not known to be off counts as on.
 */
import type { DisarmTime, SnoozeOrder } from '@hedgerow/contract'
import { charged, spent, type Charge } from './budget.ts'
import { createChannels } from './channels.ts'
import { nextMorning, type Place } from '../kernel/hours.ts'
import { isSameName } from '../kernel/same-name.ts'
import type { NewLedgerEntry } from './ledger-entry.ts'
import { lasted, type Channel, type LiveFiring } from './live-firing.ts'
import { createPersonsSeen } from './persons-seen.ts'
import { blockedNow, PRESSED, reasonAgainst, type Blocked, type Situation } from './reason-against.ts'
import { refusal, type Refusal, type RefusalCode } from './refusals.ts'
import { createRefusalCount } from './refusal-count.ts'
import {
  inWords,
  loadCharges,
  monoOf,
  onWall,
  type Asker,
  type Instant,
  type SavedState,
  type Unit,
} from './saved-state.ts'
import { hourBudgetOf, type DeterrentSettings } from './schema.ts'
import { createSnoozes, type Scope } from './snoozes.ts'
import { hasNoWatcher, isWatching, NOBODY_LOOKS, whyBlind, type Watch } from './watch.ts'

/** The wall clock was set when it differs from the monotonic one by more than this. */
const CLOCK_SET_MS = 2_000
/** A firing unit that is no longer in gateway.yaml is dropped after this time, whether it is off or not. */
const GIVEN_UP_MS = 3_600_000
const GIVEN_UP = 'given up: it does not answer, and gateway.yaml no longer has it'

export type FireRequest = { deterrent: string; seconds?: number | undefined; by: Asker }
/** `until` is by the wall clock, in milliseconds since 1970. */
export type Firing = { id: string; deterrent: string; seconds: number; until: number }

export type Output =
  /** Write `saved()` so that it survives a power cut, then call `written` or `notWritten` with `version`. */
  | { do: 'save'; version: number }
  | { do: 'switch-on'; unit: Unit; firing: string; seconds: number }
  /** Switch it off until it is known to be off. */
  | { do: 'switch-off'; unit: Unit }
  /** The result of `units` has changed. */
  | { do: 'guard' }
  /** Answers the request that got this firing's id. */
  | { do: 'answer'; firing: string; answer: { firing: Firing } | Refusal }
  | { do: 'record'; entry: NewLedgerEntry }
  /** A minute from now, check whether the object of this detection is gone. */
  | { do: 'look-later'; firing: string; deterrent: string; by: Asker }

export type DeterrentState = {
  name: string
  driver: string
  state: 'ready' | 'active' | 'fault'
  /** When the firing ends by the wall clock; null while nothing is firing. */
  until: number | null
  secondsLeftThisHour: number
  /** Why it would not fire now; absent where `state` says it, and while the device is disarmed. */
  blocked?: Blocked
}

/** `seconds` is null until somebody arms it. `by` is unknown when the saved state was damaged. */
type Disarmed = { by: Asker | undefined; at: Instant; seconds: number | null }
const LASTS_SECONDS = { '30m': 1_800, '1h': 3_600, '2h': 7_200 } as const

export type InterlockOptions = {
  settings: Readonly<Record<string, DeterrentSettings>>
  place: Place
  /** Undefined when there is none yet. */
  saved: SavedState | undefined
  /** Changes when the device boots. */
  boot: string
  now: Instant
  newId: () => string
  /** What the cameras do now. */
  watch: () => Watch
}

export function createInterlock(options: InterlockOptions) {
  const { saved, boot, newId } = options
  let { settings, place } = options
  let disarmed = savedDisarmed(saved, boot, options.now)
  let version = 0
  /** The process that guards running firings. */
  let guard: 'starting' | 'there' | 'gone' = 'starting'
  /** The difference between the two clocks; it changes when somebody sets the wall clock. */
  let clocksApart = options.now.wall - options.now.mono
  const charges: Map<string, Charge[]> = saved ? loadCharges(saved, boot, options.now) : new Map()
  const persons = createPersonsSeen(saved, boot, options.now)
  const channels = createChannels(options)
  const { all } = channels
  const refused = createRefusalCount()
  const snoozes = createSnoozes(saved, boot, options.now)

  /** Neither disarmed nor snoozed. */
  const isArmed = () => !disarmed && !snoozes.isOn()
  const save = (): Output => ({ do: 'save', version: ++version })
  const record = (now: Instant, entry: Omit<NewLedgerEntry, 'at'>): Output => ({
    do: 'record',
    entry: { at: now.wall, ...entry },
  })
  const recorded = (now: Instant, entries: readonly Omit<NewLedgerEntry, 'at'>[]): Output[] =>
    entries.length === 0 ? [] : [...entries.map((entry) => record(now, entry)), save()]

  /** Counts the current firing as if it ended now or ran to its end, whichever is more. */
  function spentBy(name: string, now: Instant): { hour: number; day: number } {
    const live = all().flatMap(({ unit, firing }) =>
      firing && unit.name === name && !firing.neverOn
        ? [{ end: now.mono, seconds: Math.max(firing.seconds, lasted(firing, now)) }]
        : [],
    )
    return spent([...(charges.get(name) ?? []), ...live], now.mono)
  }

  function situationOf(deterrent: string, by: Asker, now: Instant): Situation {
    const channel = channels.named(deterrent)
    return {
      own: channel && settings[deterrent],
      place,
      isArmed: !disarmed,
      isSnoozed: snoozes.isOn(by.kind === 'rule' ? by.camera : undefined),
      isBusy: all().some(({ unit, firing }) => firing && unit.name === deterrent),
      isReady: guard === 'there' && channel?.isOff === true,
      personUntil: (own) => persons.until((camera) => isWatching(camera, by, own), now),
      watch: options.watch(),
      lastEnd: charges.get(deterrent)?.at(-1)?.end,
      spent: () => spentBy(deterrent, now),
      charges: charges.get(deterrent) ?? [],
    }
  }

  /** Nothing fires while it is disarmed, so only a person who passes by at its end could be surprised. */
  function armWhenOver(now: Instant): Output[] {
    if (!disarmed || now.mono < endOf(disarmed)) return []
    disarmed = undefined
    return [record(now, { kind: 'armed', message: 'the time for which it was disarmed is over' }), save()]
  }

  /** Ends what is firing on a channel; the device gets the command even when it is not known to be on. */
  function end(channel: Channel, now: Instant, code: RefusalCode, why: string): Output[] {
    const { unit, firing } = channel
    if (!firing) return [{ do: 'switch-off', unit }]
    if (firing.phase === 'saving') {
      channel.firing = undefined
      return [
        { do: 'answer', firing: firing.id, answer: refusal(code) },
        record(now, { kind: 'refused', deterrent: unit.name, by: firing.by, code, message: why }),
        save(),
      ]
    }
    if (firing.phase === 'ending') return [{ do: 'switch-off', unit }]
    const wasSwitching = firing.phase === 'switching'
    channel.firing = { ...firing, phase: 'ending', why }
    const answer: Output = { do: 'answer', firing: firing.id, answer: refusal(code) }
    return [{ do: 'switch-off', unit }, ...(wasSwitching ? [answer] : [])]
  }

  /** Charges the time of a firing, once nothing is on any more. */
  function over(
    channel: Channel,
    firing: LiveFiring,
    outcome: { answer?: string; message: string },
    now: Instant,
  ): Output[] {
    const { name } = channel.unit
    const { id, by } = firing
    const seconds = lasted(firing, now)
    channel.firing = undefined
    channels.dropIdle()
    charges.set(name, charged(charges.get(name) ?? [], { end: now.mono, seconds }))
    // Its entry says that it failed: nothing has begun that could end.
    if (firing.neverOn) return [save()]
    const outputs = [record(now, { kind: 'ended', deterrent: name, firing: id, by, seconds, ...outcome }), save()]
    return by.kind === 'rule' ? [...outputs, { do: 'look-later', firing: id, deterrent: name, by }] : outputs
  }

  return {
    isArmed,
    isSnoozed: (camera: string): boolean => snoozes.isOn(camera),
    snoozes: snoozes.list,
    /** By whom it is disarmed, since when and until when, by the wall clock. */
    disarmed(): { by: string; at: number; until: number | null } | undefined {
      if (!disarmed) return undefined
      const { by, seconds } = disarmed
      const at = Math.max(0, Math.round(disarmed.at.wall))
      return { by: by ? inWords(by) : 'the device', at, until: seconds === null ? null : at + seconds * 1_000 }
    },

    /** All units, for the guarding process: it switches all of them off at its start. */
    units: channels.units,

    /** The names of deterrents that are not known to be off, also of those that gateway.yaml no longer has. */
    notOff: (): string[] => [...new Set(all().flatMap(({ unit, isOff }) => (isOff ? [] : [unit.name])))],

    /** Every answer to a request is an output with the id that this returns; a refusal is among these outputs. */
    request(wanted: FireRequest, now: Instant): { firing: string; outputs: Output[] } {
      const id = newId()
      const answer = reasonAgainst(wanted, situationOf(wanted.deterrent, wanted.by, now), now)
      if (answer) {
        const { deterrent, by } = wanted
        const { refused: code, message } = answer
        const entry = refused.count({ kind: 'refused', deterrent, by, code, message }, now)
        const outcome: Output = { do: 'answer', firing: id, answer }
        return { firing: id, outputs: entry ? [outcome, { do: 'record', entry }] : [outcome] }
      }
      const channel = channels.named(wanted.deterrent)!
      const seconds = wanted.seconds ?? settings[wanted.deterrent]!.seconds
      const saving = save()
      const isUnseen = hasNoWatcher(wanted.by, settings[wanted.deterrent]!, options.watch())
      channel.firing = { id, by: wanted.by, seconds, phase: 'saving', version, startedAt: now, isUnseen }
      return { firing: id, outputs: [saving] }
    },

    /** The disk has the state of this version. */
    written(upTo: number, now: Instant): Output[] {
      return all().flatMap((channel): Output[] => {
        const { firing, unit } = channel
        if (firing?.phase !== 'saving' || firing.version > upTo) return []
        channel.isOff = false
        channel.firing = { ...firing, phase: 'switching', startedAt: now }
        return [{ do: 'switch-on', unit, firing: firing.id, seconds: firing.seconds }]
      })
    },

    /** The state must be on disk: after a crash, nobody would know of a unit that is on. */
    notWritten(upTo: number, now: Instant): Output[] {
      return all().flatMap((channel): Output[] => {
        const { firing, unit } = channel
        if (firing?.phase !== 'saving' || firing.version > upTo) return []
        channel.firing = undefined
        const answer = refusal('not_recorded')
        const { refused: code, message } = answer
        const entry = { kind: 'refused', deterrent: unit.name, by: firing.by, code, message } as const
        return [{ do: 'answer', firing: firing.id, answer }, record(now, entry)]
      })
    },

    /** The device answered that it is on. */
    on(firingId: string, answer: string, now: Instant): Output[] {
      const channel = channels.ofFiring(firingId, 'switching')
      if (!channel) return []
      const { unit, firing } = channel
      channel.firing = { ...firing, phase: 'on' }
      const { id, seconds, by, isUnseen } = firing
      const seen = isUnseen ? { message: NOBODY_LOOKS } : {}
      const until = firing.startedAt.wall + seconds * 1_000
      return [
        { do: 'answer', firing: id, answer: { firing: { id, deterrent: unit.name, seconds, until } } },
        record(now, { kind: 'fired', deterrent: unit.name, firing: id, by, seconds, answer, ...seen }),
      ]
    },

    /** The device did not answer that it is on; it may be on, unless the device says that it never was. */
    failed(firingId: string, message: string, now: Instant, neverOn = false): Output[] {
      const channel = channels.ofFiring(firingId, 'switching')
      if (!channel) return []
      const { unit, firing } = channel
      channel.firing = { ...firing, phase: 'ending', why: 'the device failed', neverOn }
      const { id, by } = firing
      return [
        { do: 'answer', firing: id, answer: refusal('device_failed', message) },
        record(now, { kind: 'failed', deterrent: unit.name, firing: id, by, code: 'device_failed', message }),
      ]
    },

    /**
     * The unit is known to be off, after the firing named if there was one. A report about an earlier firing does not
     * end a later one.
     */
    off(unitId: string, firingId: string | undefined, answer: string, now: Instant): Output[] {
      const channel = channels.ofUnit(unitId)
      if (!channel) return []
      const { unit, firing } = channel
      const isLater = firing && firing.phase !== 'ending' && firing.id !== firingId
      if (isLater) return []
      const mended = channel.fault === undefined ? [] : [record(now, { kind: 'mended', deterrent: unit.name, answer })]
      channel.isOff = true
      channel.fault = undefined
      return firing
        ? [...mended, ...over(channel, firing, { answer, message: firing.why ?? 'its time was over' }, now)]
        : mended
    },

    /** Switching off fails; it is tried again until it is known to be off. */
    fault(unitId: string, message: string, now: Instant): Output[] {
      const channel = channels.ofUnit(unitId)
      if (!channel || channel.fault !== undefined) return []
      channel.isOff = false
      channel.fault = message
      return [record(now, { kind: 'fault', deterrent: channel.unit.name, message })]
    },

    /** The supervisor is there, and knows all units. */
    guarded(): void {
      guard = 'there'
    },

    /**
     * The guarding process is gone, or could not be started: the agent itself must switch off what may be on, also from
     * an earlier run, and nothing fires until there is a new one.
     */
    unguarded(now: Instant): Output[] {
      const before = guard
      guard = 'gone'
      const outputs = all().flatMap((channel): Output[] => {
        const wasOff = channel.isOff
        if (before === 'there') channel.isOff = false
        return channel.firing || !wasOff ? end(channel, now, 'not_ready', 'the process that guards it ended') : []
      })
      return before === 'gone' ? outputs : [record(now, { kind: 'unguarded' }), ...outputs]
    },

    stop(deterrent: string | undefined, by: Asker, now: Instant): Output[] {
      const concerned = all().filter(({ unit }) => deterrent === undefined || unit.name === deterrent)
      const entry = refused.count({ kind: 'stopped', ...(deterrent !== undefined && { deterrent }), by }, now)
      const outputs = concerned.flatMap((channel) => end(channel, now, 'stopped', `stopped by ${inWords(by)}`))
      return [...outputs, ...(entry ? [{ do: 'record', entry } as const] : [])]
    },

    /** Never shortens the time of an earlier one: somebody may rely on it. */
    disarm(by: Asker, now: Instant, lasts?: DisarmTime): Output[] {
      const next = { by, at: now, seconds: lasts === undefined ? null : secondsOf(lasts, now, place) }
      const isLonger = !disarmed || endOf(next) > endOf(disarmed)
      if (isLonger) disarmed = next
      const outputs = all().flatMap((channel) => end(channel, now, 'disarmed', `disarmed by ${inWords(by)}`))
      if (!isLonger) return outputs
      const { seconds } = next
      return [...outputs, record(now, { kind: 'disarmed', by, ...(seconds !== null && { seconds }) }), save()]
    },

    /** Also ends snoozes of the whole device. */
    arm(by: Asker, now: Instant): Output[] {
      if (isArmed()) return []
      disarmed = undefined
      return recorded(now, [...snoozes.endWhole(by), { kind: 'armed', by }])
    },

    /** Ends what is firing: everything, or what detections of the camera have set off. Undefined for too many. */
    snooze(by: Asker, now: Instant, { kind, camera, lasts = '30m' }: SnoozeOrder): Output[] | undefined {
      const seconds = secondsOf(lasts, now, place)
      const entry = snoozes.begin({ kind, ...(camera !== undefined && { camera }), by, at: now, seconds })
      if (!entry) return undefined
      const concerned = all().filter(({ firing }) => camera === undefined || (firing && isSetOffBy(camera, firing.by)))
      const outputs = concerned.flatMap((channel) => end(channel, now, 'snoozed', `snoozed by ${inWords(by)}`))
      return [...outputs, ...recorded(now, [entry])]
    },
    endSnooze: (by: Asker, now: Instant, scope: Scope): Output[] => recorded(now, snoozes.end(scope, by)),

    /**
     * A person is on this camera now, whatever the time of the detection, because clocks of cameras and programs may be
     * wrong.
     */
    personSeen(camera: string, now: Instant, holdMs?: number): Output[] {
      const isSaveDue = persons.note(camera, now, holdMs)
      const outputs = all().flatMap((channel): Output[] => {
        const own = settings[channel.unit.name]
        if (!own || !channel.firing || channel.firing.phase === 'ending') return []
        if (!isWatching(camera, channel.firing.by, own)) return []
        return end(channel, now, 'person_near', `a person was seen on ${camera}`)
      })
      return isSaveDue ? [...outputs, save()] : outputs
    },

    /** The agent stops. */
    close(now: Instant): Output[] {
      const firing = all().filter((channel) => channel.firing)
      return firing.flatMap((channel) => end(channel, now, 'stopped', 'the gateway stopped'))
    },

    /** New settings from gateway.yaml. A firing with other settings ends. */
    apply(changed: Readonly<Record<string, DeterrentSettings>>, where: Place, now: Instant): Output[] {
      settings = changed
      place = where
      channels.apply(settings)
      const outputs = channels.retired().flatMap((channel) => end(channel, now, 'stopped', 'its settings changed'))
      channels.dropIdle()
      return [{ do: 'guard' }, ...outputs]
    },

    /**
     * Ends firings whose time is over by either clock, and those that nobody watches any more; arms the device when its
     * time is over. Call it each second.
     */
    tick(now: Instant): Output[] {
      const ended = all().flatMap((channel): Output[] => {
        const { firing } = channel
        if (firing?.phase !== 'switching' && firing?.phase !== 'on') return []
        const { startedAt, seconds } = firing
        const isOver = Math.max(now.mono - startedAt.mono, now.wall - startedAt.wall) >= seconds * 1_000
        if (isOver) return end(channel, now, 'device_failed', 'its time was over')
        const own = settings[channel.unit.name]
        const blind = own && whyBlind(firing.by, own, options.watch())
        return blind ? end(channel, now, blind.refused, blind.message) : []
      })
      const apart = now.wall - now.mono
      const wasSet = Math.abs(apart - clocksApart) > CLOCK_SET_MS
      clocksApart = apart
      for (const channel of channels.retired()) {
        const { firing } = channel
        // A device that is gone from gateway.yaml and does not answer must not block its successor for ever.
        if (firing && now.mono - firing.startedAt.mono > GIVEN_UP_MS)
          ended.push(...over(channel, firing, { message: GIVEN_UP }, now), { do: 'guard' })
      }
      // The saved times are those of the clock before it was set.
      if (wasSet) {
        if (disarmed) disarmed = { ...disarmed, at: onWall(disarmed.at.mono, now) }
        snoozes.onClockSet(now)
        ended.push(save())
      }
      return [
        ...ended,
        ...recorded(now, snoozes.endOver(now)),
        ...armWhenOver(now),
        ...refused.due(now).map((entry): Output => ({ do: 'record', entry })),
      ]
    },

    /** When `tick` has something to do, by the monotonic clock. */
    nextDeadline(): number | undefined {
      const ends = all().flatMap(({ firing }) =>
        firing?.phase === 'switching' || firing?.phase === 'on' ? [firing.startedAt.mono + firing.seconds * 1_000] : [],
      )
      const next = Math.min(
        ...ends,
        refused.nextDeadline() ?? Infinity,
        disarmed ? endOf(disarmed) : Infinity,
        snoozes.nextEnd(),
      )
      return next === Infinity ? undefined : next
    },

    saved(now: Instant): SavedState {
      const instantOf = (mono: number) => onWall(mono, now)
      return {
        version: 1,
        boot,
        armed: isArmed(),
        ...snoozes.saved(disarmed?.by && { ...disarmed, by: disarmed.by }),
        charges: Object.fromEntries(
          [...charges].map(([name, list]) => [name, list.map(({ end, seconds }) => ({ ...instantOf(end), seconds }))]),
        ),
        persons: Object.fromEntries([...persons.entries()].map(([camera, at]) => [camera, instantOf(at)])),
        firings: channels.saved(),
      }
    },

    list(now: Instant): DeterrentState[] {
      return Object.entries(settings).map(([name, own]) => {
        const { isOff, fault, firing } = channels.named(name)!
        const isActive = firing !== undefined || !isOff || guard === 'starting'
        const blocked = blockedNow(situationOf(name, PRESSED, now), now)
        return {
          name,
          driver: own.driver,
          state: fault !== undefined || guard === 'gone' ? 'fault' : isActive ? 'active' : 'ready',
          until: firing ? firing.startedAt.wall + firing.seconds * 1_000 : null,
          secondsLeftThisHour: Math.max(0, hourBudgetOf(own) - spentBy(name, now).hour),
          ...(blocked && { blocked }),
        }
      })
    },
  }
}

function savedDisarmed(saved: SavedState | undefined, boot: string, now: Instant): Disarmed | undefined {
  if (!saved || saved.armed || saved.disarmed?.isSnooze === true) return undefined
  const { by, at, seconds = null } = saved.disarmed ?? {}
  return { by, at: at ? onWall(monoOf(at, saved.boot, boot, now), now) : now, seconds }
}

function secondsOf(lasts: DisarmTime | NonNullable<SnoozeOrder['lasts']>, { wall }: Instant, place: Place): number {
  if (typeof lasts === 'number') return lasts
  return lasts === 'morning' ? Math.ceil((nextMorning(wall, place) - wall) / 1_000) : LASTS_SECONDS[lasts]
}

function endOf({ at, seconds }: Disarmed): number {
  return seconds === null ? Infinity : at.mono + seconds * 1_000
}

function isSetOffBy(camera: string, by: Asker): boolean {
  return by.kind === 'rule' && by.camera !== undefined && isSameName(by.camera, camera)
}
