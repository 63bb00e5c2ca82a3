/**
 * The messages of Frigate 0.16 to 0.18, as far as the agent reads them. Unknown fields are ignored; missing fields and
 * wrong types are reported by their path. Times are seconds since 1970.
 */
import { readJson } from '@hedgerow/contract/bounded-json'
import { z } from 'zod'

/** Frigate's names of cameras, objects and zones; a longer text is not a name. */
const name = z.string().min(1).max(100)
/** Frigate's ids are a time and six letters. They become part of addresses. */
const id = z
  .string()
  .min(1)
  .max(80)
  .regex(/^[\w.:-]+$/)
/** From 2000 to 9999: Frigate sends no other times. */
const seconds = z.number().min(946_684_800).max(253_402_300_799)
const names = z.array(name).max(200)

/** `GET /api/review` lists these; a message on `reviews` has one before and one after. */
export const reviewItem = z.object({
  id,
  camera: name,
  start_time: seconds,
  end_time: seconds.nullable(),
  /** `alert` or `detection`; older versions also have `significant_motion`. */
  severity: z.string().max(50),
  data: z.object({
    /** The ids of tracked objects. */
    detections: z.array(id).max(500),
    /** Their labels, each once; one with a recognised sub label ends in `-verified`. */
    objects: names,
    zones: names.default([]),
    /** The labels of sounds. */
    audio: names.default([]),
  }),
})
export type ReviewItem = z.output<typeof reviewItem>

export const reviewMessage = z.object({ type: z.string().max(50), after: reviewItem })

/** Left, top, right and bottom in pixels of the stream that Frigate detects on. */
const pixelBox = z.array(z.number()).length(4)

/** One message on `events`. Frigate calls a tracked object an event. */
export const trackedMessage = z.object({
  type: z.string().max(50),
  after: z.object({
    id,
    camera: name,
    label: name,
    score: z.number().min(0).max(1),
    top_score: z.number().min(0).max(1).nullish(),
    false_positive: z.boolean().nullish(),
    stationary: z.boolean().nullish(),
    box: pixelBox.nullish(),
  }),
})
export type TrackedMessage = z.output<typeof trackedMessage>

/** The answer to `GET /api/events/ID`. */
export const trackedObject = z.object({
  id,
  camera: name,
  label: name,
  data: z.object({
    score: z.number().min(0).max(1).nullish(),
    top_score: z.number().min(0).max(1).nullish(),
    /** Left, top, width and height as fractions of the picture. */
    box: pixelBox.nullish(),
  }),
})

export const stats = z.object({
  cameras: z.record(name, z.object({ camera_fps: z.number().min(0) })),
  detectors: z.record(name, z.object({ inference_speed: z.number().min(0) })),
})
export type Stats = z.output<typeof stats>

const isOn = z.object({ enabled: z.boolean().default(true) })

export const config = z.object({
  cameras: z.record(
    name,
    z.object({
      enabled: z.boolean().default(true),
      detect: isOn
        .extend({ width: z.number().positive().nullish(), height: z.number().positive().nullish() })
        .default({ enabled: true }),
      record: isOn.default({ enabled: true }),
      zones: z.record(name, z.unknown()).nullish(),
      objects: z.object({ track: names.nullish() }).nullish(),
      audio: z.object({ listen: names.nullish() }).nullish(),
    }),
  ),
  /** Parts of an object that are reported under names of their own, such as the face of a person. */
  model: z.object({ attributes_map: z.record(name, names).nullish() }).nullish(),
})
export type Config = z.output<typeof config>

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
