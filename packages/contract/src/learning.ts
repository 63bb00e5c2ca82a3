/**
 * What a gateway learned from people's reviews, by camera and label. The hub reads it through the gateway's door when
 * somebody looks, and stores nothing of it.
 */
import { z } from 'zod'
import { call } from './call.ts'
import { cleanLine } from './fields.ts'
import { gatewayId } from './gateways.ts'

const name = cleanLine(100).min(1)
const count = z.number().int().min(0).max(1_000_000_000)
const share = z.number().min(0).max(1)

export const LEARNING_NIGHTS = 30

const learnedVersion = z.object({
  number: count.min(1),
  /** When it took over. */
  at: z.iso.datetime(),
  state: z.enum(['active', 'replaced', 'undone']),
  endedAt: z.iso.datetime().nullable(),
  /** A person's name, or `misses` when right reviews of held-back detections ended it. */
  endedBy: cleanLine(200).nullable(),
  /** The largest share of right detections that it may miss, as far as the reviews can show. */
  missedAtMost: share,
  /** How many detections it holds back, and how many of these people called right. */
  heldBack: count,
  missed: count,
})

const learnedLabel = z.object({
  label: name,
  /** Reviews of the last 60 days. */
  right: count,
  wrong: count,
  /** The result of the last night, in a sentence. */
  message: cleanLine(500),
  /** Newest first. */
  versions: z.array(learnedVersion).max(10),
  /** The share of right detections that the active version expected in the newest reviews, and the actual share. */
  drift: z.object({ expected: share, observed: share, reviews: count }).nullable(),
})

/** A place where the same box was detected repeatedly, and nobody called it right. */
const proposedMask = z.object({
  /** Identifies the mask in a call that dismisses it. */
  id: z.string().max(64),
  label: name,
  times: count,
  wrong: count,
  /** Corners in shares of the picture. */
  polygon: z
    .array(z.tuple([share, share]))
    .min(3)
    .max(16),
  /** The lines for gateway.yaml, or for Frigate's own file. */
  lines: z.string().max(1_000),
})

/** Detections of one night, noon to noon at the site, that people reviewed. */
const learnedNight = z.object({
  /** The day on which it began. */
  day: z.iso.date(),
  /** Shown and right. */
  right: count,
  /** Shown, but a false alarm; an animal of another kind is none. */
  wrong: count,
  /** Held back, although right. */
  lost: count,
  /** Held back, reviewed or not. */
  heldBack: count,
})

const learnedCamera = z.object({
  camera: name,
  /** The last 30, oldest first; including nights without detections. */
  nights: z.array(learnedNight).max(LEARNING_NIGHTS),
  labels: z.array(learnedLabel).max(16),
  masks: z.array(proposedMask).max(16),
})

/** A name that people gave to animals; the detector has no such label, or another one. */
const learnedName = z.object({
  name,
  corrections: count,
  /** `collecting`: too few corrections yet. `failed`: wrong too often on corrections that were held out. */
  state: z.enum(['collecting', 'failed', 'passed']),
  /** What is missing, or how it did on held-out corrections, in a sentence. */
  message: cleanLine(500),
})

const namesVersion = z.object({
  number: count.min(1),
  at: z.iso.datetime(),
  state: z.enum(['active', 'replaced', 'undone']),
  endedAt: z.iso.datetime().nullable(),
  endedBy: cleanLine(200).nullable(),
  /** The names that it gives. */
  names: z.array(name).max(8),
  /** The gateway that learned it; null for this one. */
  from: cleanLine(200).nullable(),
})

/** What a version says of a detection, beside what people saw then. */
const namedBefore = z.object({ id: z.string().max(100), camera: name, at: z.iso.datetime(), label: name, now: name })

const learnedNames = z.object({
  /** Why nothing can be learned here, in a sentence; null when it can. */
  problem: cleanLine(500).nullable(),
  list: z.array(learnedName).max(16),
  /** Newest first. */
  versions: z.array(namesVersion).max(10),
  /** Of the newest `looked` detections of animals, those that the active versions call otherwise; newest first. */
  looked: count,
  before: z.array(namedBefore).max(12),
})
export type LearnedNames = z.output<typeof learnedNames>

/** The most names of one version. */
export const LEARNED_NAMES_MAX = 8

/** What one gateway learned of names, as it goes to another: numbers of a classifier, and no pictures. */
export const learnedHead = z.strictObject({
  /** The SHA-256 of the model whose features it reads. */
  model: z.string().regex(/^[0-9a-f]{64}$/),
  names: z.array(name).min(1).max(LEARNED_NAMES_MAX),
  cameras: z.array(name).max(8),
  /** Above 1 for a name that did not pass. */
  thresholds: z.array(z.number().min(0).max(2)).max(LEARNED_NAMES_MAX),
  features: z.number().int().min(1).max(8_192),
  /** 16-bit numbers in base64: the weights by class, then the biases. */
  weights: z.base64().max(200_000),
})
export type LearnedHead = z.output<typeof learnedHead>

/** Which version of names ends. */
export const namesUndo = z.strictObject({ number: count.min(1) })
/** The gateway whose names another one uses. */
export const namesFrom = z.strictObject({ gateway: gatewayId })

export const gatewayLearning = z.object({
  state: z.enum(['off', 'waiting', 'running', 'failed']),
  lastRunAt: z.iso.datetime().nullable(),
  message: cleanLine(500),
  cameras: z.array(learnedCamera).max(64),
  /** Absent from older agents. */
  names: learnedNames.optional(),
})
export type GatewayLearning = z.output<typeof gatewayLearning>

/**
 * Ends versions of a camera and label. `to`: the version that becomes active, or null for none; when left out, the one
 * before the active one, or none.
 */
export const learningUndo = z.strictObject({
  camera: name,
  label: name,
  to: count.min(1).nullable().optional(),
})
export type LearningUndo = z.output<typeof learningUndo>

/** The limits of an answer of the gateway's door: bytes, and JSON values. */
export const LEARNING_MAX_BYTES = 1024 * 1024
export const LEARNING_MAX_VALUES = 131_072

/** What a gateway learned, read through its door now. */
export const readGatewayLearning = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/learning',
  params: z.strictObject({ id: gatewayId }),
  errors: [
    'vpn_disabled',
    'gateway_not_found',
    'gateway_takes_no_commands',
    'gateway_unreachable',
    'learning_unavailable',
  ],
  response: gatewayLearning,
})
