/**
 * The gateway's door for the hub itself: HTTP on port 8081 of its tunnel address, for pictures and commands. The tunnel
 * authenticates the hub; nobody else reaches this port.
 */
import { z } from 'zod'
import { call } from './call.ts'
import { deterrentName, FIRING_MAX_SECONDS } from './deterrents.ts'
import { clipErrors, identified, named, pictureErrors, pictureSize, snapshotKind } from './device-parts.ts'
import { cleanLine } from './fields.ts'
import { snoozeOrder } from './snoozes.ts'
import { gatewayLearning, learnedHead, learningUndo, namesUndo } from './learning.ts'

export const GATEWAY_DOOR_PORT = 8081

/** How old a camera's picture is, in milliseconds by the clock of who answers; absent where nobody knows. */
export const PICTURE_AGE_HEADER = 'x-picture-age'
/** The longest picture in a gateway's answer, in bytes. */
export const PICTURE_MAX_BYTES = 4 * 1024 * 1024
/** The longest life of a command: afterwards it is not carried out. */
export const COMMAND_LIFETIME_MS = 20_000

/** How long it stays disarmed; without one of these until somebody arms it. `morning`: 7 o'clock at its place. */
export const DISARM_TIMES = ['30m', '1h', 'morning'] as const
export const disarmTime = z.enum(DISARM_TIMES)
export type DisarmTime = z.output<typeof disarmTime>

export const commandAction = z.enum([
  'fire',
  'stop',
  'arm',
  'disarm',
  'snooze',
  'end-snooze',
  'undo-learning',
  'learn-now',
  'undo-names',
  'use-names',
])
export type CommandAction = z.output<typeof commandAction>

const ticket = z.string().min(1).max(100)

/**
 * A command takes two calls: the hub asks for a ticket, then sends the command with it. The gateway counts `withinMs`
 * from the ticket by its monotonic clock, accepts a ticket once, and after a stop or disarm fires and arms nothing with
 * an earlier ticket. So a command that was delayed, or overtaken by a stop, is not carried out.
 */
const doorCommand = z.strictObject({
  ticket,
  withinMs: z.number().int().min(0).max(COMMAND_LIFETIME_MS),
  action: commandAction,
  /** Required for `fire`; for `stop` one deterrent, or all when left out. */
  deterrent: deterrentName.optional(),
  /** Only for `fire`; when left out, the length in the device's file. */
  seconds: z.number().int().min(1).max(FIRING_MAX_SECONDS).optional(),
  /** Only for `disarm`. An older agent does not know it, and refuses the command. */
  lasts: disarmTime.optional(),
  /** Required for `snooze` and `end-snooze`. */
  snooze: snoozeOrder.optional(),
  /** Required for `undo-learning`. */
  learning: learningUndo.optional(),
  /** Required for `undo-names`. */
  names: namesUndo.optional(),
  /** Required for `use-names`: what a gateway of this name learned. */
  learned: z.strictObject({ from: cleanLine(200).min(1), head: learnedHead }).optional(),
  /** The person's name, for the ledger. */
  by: cleanLine(200).min(1),
})
export type DoorCommand = z.output<typeof doorCommand>

/** A refusal has a code of the device, such as `cool_down`, and a sentence. */
const doorOutcome = z.object({
  outcome: z.enum(['done', 'refused']),
  code: cleanLine(50).optional(),
  message: cleanLine(500).optional(),
})
export type DoorOutcome = z.output<typeof doorOutcome>

/** A hub and an agent may be of different versions, so unknown parts of a query are ignored. */
export const doorCalls = {
  giveTicket: call({ method: 'POST', path: '/v1/tickets', response: z.object({ ticket }) }),
  carryOut: call({ method: 'POST', path: '/v1/commands', body: doorCommand, response: doorOutcome }),
  readLearning: call({ method: 'GET', path: '/v1/learning', response: gatewayLearning }),
  /** Null when this gateway has learned no names itself. */
  readNames: call({
    method: 'GET',
    path: '/v1/learning/names',
    response: z.object({ head: learnedHead.nullable() }),
  }),
  /** The age is in the header `PICTURE_AGE_HEADER`. */
  readLatest: call({
    method: 'GET',
    path: '/v1/cameras/:name/latest.jpg',
    params: named,
    query: pictureSize.strip(),
    media: 'image/jpeg',
    response: null,
    errors: pictureErrors.latest,
  }),
  /** The picture of the source, else the thumbnail. */
  readSnapshot: call({
    method: 'GET',
    path: '/v1/detections/:id/snapshot.jpg',
    params: identified,
    query: snapshotKind.strip(),
    media: 'image/jpeg',
    response: null,
    errors: pictureErrors.snapshot,
  }),
  /** With ranges: RFC 9110 §14.2. */
  readClip: call({
    method: 'GET',
    path: '/v1/detections/:id/clip.mp4',
    params: identified,
    media: 'video/mp4',
    response: null,
    errors: clipErrors,
  }),
} as const
