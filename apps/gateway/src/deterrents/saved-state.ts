/** The interlock's state across restarts: one small file, written before anything is switched on. */
import { snoozeKind } from '@hedgerow/contract'
import { z } from 'zod'
import type { Charge } from './budget.ts'
import type { DeterrentSettings } from './schema.ts'

/** Two clocks at one moment, in milliseconds: `wall` since 1970, `mono` since the device's boot and never set back. */
export type Instant = { wall: number; mono: number }

const instant = z.object({ wall: z.number(), mono: z.number() })

export const asker = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('rule'),
    rule: z.string(),
    detectionId: z.string(),
    /** A person on one of these blocks it, beside those of `watchedBy`. */
    cameras: z.array(z.string()).readonly(),
    /** These must look where there is no `watchedBy`. */
    watchers: z.array(z.string()).readonly().default([]),
    aboutPersons: z.boolean(),
    /** The camera of the detection. */
    camera: z.string().optional(),
    chose: z.string().optional(),
  }),
  z.object({ kind: z.literal('person'), name: z.string(), via: z.enum(['hub', 'device']) }),
  z.object({ kind: z.literal('program') }),
])
/** Who requested a firing. `chose` is the choice of a rule that varies. */
export type Asker = z.output<typeof asker>

export function inWords(by: Asker): string {
  if (by.kind === 'rule') return `the rule ${by.rule}`
  return by.kind === 'person' ? by.name : 'a program'
}

export const savedState = z.object({
  version: z.literal(1),
  /**
   * The device's boot: within one boot `mono` continues; after another only `wall` shows how long ago something was.
   */
  boot: z.string(),
  armed: z.boolean(),
  /** Who disarmed it when, and for how long; absent when unknown, and then until somebody arms it. */
  disarmed: z
    .object({
      by: asker,
      at: instant,
      seconds: z.number().nullable(),
      isSnooze: z.boolean().optional(),
    })
    .optional(),
  snoozes: z
    .array(z.object({ kind: snoozeKind, camera: z.string().optional(), by: asker, at: instant, seconds: z.number() }))
    .optional(),
  charges: z.record(z.string(), z.array(instant.extend({ seconds: z.number() }))),
  persons: z.record(z.string(), instant),
  /** Units that were on, or may have been, with everything that is needed to switch them off. */
  firings: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      settings: z.looseObject({ driver: z.string() }),
      by: asker,
      seconds: z.number(),
      startedAt: instant,
    }),
  ),
})
export type SavedState = z.output<typeof savedState>
export type SavedFiring = SavedState['firings'][number]

/** A saved moment on this run's monotonic clock; when unsure, the later one. */
export function monoOf(saved: Instant, savedBoot: string, boot: string, now: Instant): number {
  if (savedBoot === boot) return Math.min(saved.mono, now.mono)
  return now.mono - Math.max(0, now.wall - saved.wall)
}

/** A moment of the monotonic clock on both clocks. */
export const onWall = (mono: number, now: Instant): Instant => ({ mono, wall: now.wall - (now.mono - mono) })

export function loadCharges(state: SavedState, boot: string, now: Instant): Map<string, Charge[]> {
  return new Map(
    Object.entries(state.charges).map(([name, charges]) => [
      name,
      charges
        .map((charge) => ({ end: monoOf(charge, state.boot, boot, now), seconds: charge.seconds }))
        .sort((a, b) => a.end - b.end),
    ]),
  )
}

/** One way to switch something: the same name with other driver settings is another unit. */
export type Unit = { id: string; name: string; settings: DriverSettings }
/** `mayBeOn`: a request that switches it on may be on its way to the device, from another process. */
export type GuardedUnit = Unit & { mayBeOn: boolean }
export type DriverSettings = { driver: string; [key: string]: unknown }

const LIMITS: ReadonlySet<string> = new Set<keyof DeterrentSettings>([
  'seconds',
  'maximumSeconds',
  'coolDownSeconds',
  'secondsAnHour',
  'secondsADay',
  'quietHours',
  'armed',
  'watchedBy',
])

/** The unit does not hold the limits, which only the interlock needs. */
export function unitOf(name: string, settings: Readonly<DeterrentSettings | DriverSettings>): Unit {
  const own = Object.fromEntries(Object.entries(settings).filter(([key]) => !LIMITS.has(key))) as DriverSettings
  return { id: `${name}\n${JSON.stringify(own)}`, name, settings: own }
}
