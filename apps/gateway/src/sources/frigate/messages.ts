/**
 * The messages of Frigate 0.16 to 0.18, as far as the agent reads them. Unknown fields are ignored; missing fields and
 * wrong types are reported by their path. Times are seconds since 1970.
 */
import { readJson } from '@hedgerow/contract/bounded-json'
import { z } from 'zod'

const NAME_MAX = 100
/** Frigate's names of cameras, objects, zones and sounds. A longer one is cut: it must not cost the whole message. */
const name = z
  .string()
  .max(10_000)
  .transform((text) => text.slice(0, NAME_MAX).trim())
const names = z
  .array(name)
  .max(200)
  .transform((all) => all.filter((each) => each !== ''))
/** Frigate's ids are a time and six letters. They become part of addresses. */
const id = z
  .string()
  .min(1)
  .max(80)
  .regex(/^[\w.:-]+$/)
/** From 2000 to 9999. */
const seconds = z.number().min(946_684_800).max(253_402_300_799)
/** What Frigate gives as the end of a manual event without one (`sys.maxsize`): when that stays, nobody ended it. */
const ENDLESS = 9_000_000_000_000_000_000
const end = z
  .union([
    seconds,
    z
      .number()
      .min(ENDLESS)
      .transform(() => Infinity),
  ])
  .nullish()
  .transform((at) => at ?? null)
/** A program may give any score to an event that it makes. */
const score = z
  .number()
  .min(0)
  .transform((value) => Math.min(1, value))

/** `GET /api/review` lists these; a message on `reviews` has one before and one after. */
export const reviewItem = z.object({
  id,
  camera: name,
  start_time: seconds,
  /** Infinity: it is over, and nobody said since when. */
  end_time: end,
  /** `alert` or `detection`; older versions also have `significant_motion`. */
  severity: z.string().max(50),
  data: z.object({
    /** The ids of tracked objects, in no order. */
    detections: z.array(id).max(500),
    /**
     * Their names, each once and in no order: the label, or one of its attributes (`amazon`), or `LABEL-verified`, or
     * `LABEL: SUB LABEL`.
     */
    objects: names,
    /** In no order. */
    zones: names.default([]),
    /** The labels of sounds. */
    audio: names.default([]),
  }),
})
export type ReviewItem = z.output<typeof reviewItem>

export const reviewMessage = z.object({ type: z.string().max(50), after: reviewItem })

/** Left, top, right and bottom in pixels of the stream that Frigate detects on. */
const pixelBox = z.array(z.number()).length(4)
const severity = z.string().max(50).nullish()

/** One message on `events`. Frigate calls a tracked object an event. */
export const trackedMessage = z.object({
  type: z.string().max(50),
  after: z.object({
    id,
    camera: name,
    label: name,
    start_time: seconds.nullish(),
    /** When the picture was taken that this message is about. */
    frame_time: seconds.nullish(),
    end_time: end,
    score,
    /** The highest score so far. */
    top_score: score.nullish(),
    false_positive: z.boolean().nullish(),
    stationary: z.boolean().nullish(),
    /** How often it moved: 0 until it moves for the first time. */
    position_changes: z.number().nullish(),
    /** In the order of entering. */
    entered_zones: names.nullish(),
    /** What Frigate's settings make of it; null when they want no review item of it. */
    max_severity: severity,
    box: pixelBox.nullish(),
  }),
})
export type TrackedMessage = z.output<typeof trackedMessage>

/** The answer to `GET /api/events/ID`. */
export const trackedObject = z.object({
  id,
  camera: name,
  label: name,
  start_time: seconds.nullish(),
  end_time: end,
  zones: names.nullish(),
  data: z.object({
    score: score.nullish(),
    top_score: score.nullish(),
    max_severity: severity,
    /** Left, top, width and height as fractions of the picture. */
    box: pixelBox.nullish(),
  }),
})

/** The camera of a person who replays a recording: nothing happens there now. */
export const isReplay = (camera: string): boolean => camera.startsWith('_replay_')

export const stats = z.object({
  cameras: z.record(
    name,
    /** `detection_enabled`: 0 and 1 in 0.16, false and true later. */
    z.object({ camera_fps: z.number().min(0), detection_enabled: z.union([z.boolean(), z.number()]).optional() }),
  ),
  detectors: z.record(name, z.object({ inference_speed: z.number().min(0) })),
})
export type Stats = z.output<typeof stats>

/** A part of the configuration that is on unless it says that it is off. */
const isOn = z.object({ enabled: z.boolean().default(true) }).default({ enabled: true })

export const config = z.object({
  cameras: z.record(
    name,
    z.object({
      enabled: z.boolean().default(true),
      detect: z
        .object({
          enabled: z.boolean().default(true),
          width: z.number().positive().nullish(),
          height: z.number().positive().nullish(),
        })
        .default({ enabled: true }),
      record: isOn,
      review: z
        .object({ alerts: isOn, detections: isOn })
        .default({ alerts: { enabled: true }, detections: { enabled: true } }),
      zones: z.record(name, z.unknown()).nullish(),
      objects: z.object({ track: names.nullish() }).nullish(),
      audio: z.object({ listen: names.nullish() }).nullish(),
    }),
  ),
  /** The attributes of each label, which are reported under names of their own, such as `amazon` of a person. */
  model: z.object({ attributes_map: z.record(name, names).nullish() }).nullish(),
})
export type Config = z.output<typeof config>

/** The answer to `GET /api/profile`; since 0.17 it names the cameras that this user may see. */
export const profile = z.object({ allowed_cameras: names.optional() })
export type Profile = z.output<typeof profile>

export type Read<T> = { value: T; problem?: undefined } | { problem: string }

/** A Frigate with 60 cameras sends a few hundred kilobytes. */
export const MESSAGE_BYTES_MAX = 1024 * 1024

/** Parses `bytes` as `schema`. The problem names fields, never values. Never throws. */
export function readMessage<S extends z.ZodType>(schema: S, bytes: Uint8Array): Read<z.output<S>> {
  if (bytes.length > MESSAGE_BYTES_MAX) return { problem: `is longer than ${MESSAGE_BYTES_MAX / 1024} KiB` }
  const read = readJson(bytes, VALUES_MAX)
  if (read.problem) return { problem: 'is not readable JSON' }
  return check(schema, read.value)
}

/** A WebSocket message contains the MQTT payload as text inside its JSON. */
export const envelope = z.object({ topic: z.string().min(1).max(300), payload: z.unknown().optional() })

export function check<S extends z.ZodType>(schema: S, value: unknown): Read<z.output<S>> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return { value: parsed.data }
  const paths = parsed.error.issues
    .slice(0, 3)
    .map(({ path }) => path.map(String).join('.').slice(0, 60) || 'the whole')
  return { problem: `lacks or garbles ${[...new Set(paths)].join(', ')}` }
}

/** The configuration of a camera has about 600 values. */
const VALUES_MAX = 100_000
