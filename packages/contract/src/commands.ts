/**
 * Commands of people to a gateway: to its deterrents and to its learning. A command is a row before it is sent, is
 * carried out at most once, and never after it expired. Each of these calls answers when the command has ended.
 */
import { z } from 'zod'
import { call } from './call.ts'
import { deterrentName, FIRING_MAX_SECONDS } from './deterrents.ts'
import { wholeNumber } from './fields.ts'
import { commandAction, disarmTime } from './gateway-door.ts'
import { gatewayId } from './gateways.ts'
import { cameraName, snoozeOrder, snoozeTime } from './snoozes.ts'
import { learningUndo, namesFrom, namesUndo } from './learning.ts'

export const command = z.object({
  id: z.string(),
  action: commandAction,
  /** Null for all deterrents. */
  deterrent: z.string().nullable(),
  seconds: z.number().nullable(),
  /** How long a `disarm` lasts; null until somebody arms it, and for the others. */
  lasts: disarmTime.nullable(),
  /** What a `snooze` or an `end-snooze` is about; null for the others. */
  snooze: snoozeOrder.nullable(),
  /** Which versions an `undo-learning` ends; null for the others. */
  learning: learningUndo.nullable(),
  /** Which version an `undo-names` ends, or the gateway of a `use-names`; null for the others. */
  names: z.union([namesUndo, namesFrom]).nullable(),
  /** The username at that time. */
  by: z.string(),
  /**
   * `waiting` and `sent`: on the way. `done` and `refused` are the gateway's answers. `expired`: it did not reach the
   * gateway in time, and was not carried out. `unknown`: it was sent and no answer came, so it may have been carried
   * out.
   */
  state: z.enum(['waiting', 'sent', 'done', 'refused', 'expired', 'unknown']),
  /** The gateway's code of a refusal, such as `cool_down`. */
  code: z.string().nullable(),
  /** The outcome in words. */
  message: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
})
export type Command = z.output<typeof command>

const params = z.strictObject({ id: gatewayId })
const errors = ['gateway_not_found', 'gateway_takes_no_commands'] as const

/** Switches a deterrent on, within what the device's file allows. */
export const fireDeterrent = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/fire',
  params,
  body: z.strictObject({ deterrent: deterrentName, seconds: wholeNumber(1, FIRING_MAX_SECONDS).optional() }),
  errors,
  response: command,
})

/** Switches one deterrent off, or all of them. */
export const stopDeterrents = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/stop',
  params,
  body: z.strictObject({ deterrent: deterrentName.optional() }),
  errors,
  response: command,
})

/** Lets rules and people fire again. */
export const armGateway = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/arm',
  params,
  errors,
  response: command,
})

/**
 * Switches all deterrents off, and nothing fires until the gateway is armed again or the time is over, which the device
 * sees by itself. It never shortens a longer time. An older agent stays disarmed; the command then has a message.
 */
export const disarmGateway = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/disarm',
  params,
  query: z.strictObject({ lasts: disarmTime.optional() }),
  errors,
  response: command,
})

/** `lasts`, or until a moment. */
const snoozed = z
  .strictObject({
    camera: cameraName.optional(),
    lasts: snoozeTime.optional(),
    until: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(({ lasts, until }) => (lasts === undefined) !== (until === undefined), {
    path: ['until'],
    error: 'Give `lasts` or `until`.',
  })

/**
 * For a while nothing fires and no sighting is an alert: of the gateway, or of what one camera sees. Recording goes on,
 * and incidents are marked. The device ends it by itself, also without the hub. A later one replaces an earlier one.
 */
export const snoozeGateway = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/snooze',
  params,
  body: snoozed,
  errors: [...errors, 'snooze_time_invalid'],
  response: command,
})

export const endGatewaySnooze = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/end-snooze',
  params,
  body: z.strictObject({ camera: cameraName.optional() }),
  errors,
  response: command,
})

/** As a snooze of the gateway; outages of it are no alert either. */
export const maintainGateway = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/maintenance',
  params,
  body: snoozed.refine(({ camera }) => camera === undefined, { path: ['camera'], error: 'It is about the gateway.' }),
  errors: [...errors, 'snooze_time_invalid'],
  response: command,
})

export const endGatewayMaintenance = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/end-maintenance',
  params,
  errors,
  response: command,
})

/** Goes back to an earlier version of what the gateway learned, or to none. */
export const undoGatewayLearning = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/undo-learning',
  params,
  body: learningUndo,
  errors,
  response: command,
})

/** Learns from reviews now, as every night. It goes on after the answer. */
export const learnGatewayNow = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/learn-now',
  params,
  errors,
  response: command,
})

/** Ends a version of the names that the gateway gives to animals; the one before it is used again, or none. */
export const undoGatewayNames = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/undo-names',
  params,
  body: namesUndo,
  errors,
  response: command,
})

/** Uses the names that another gateway learned: the hub carries numbers of a classifier, and no pictures. */
export const useGatewayNames = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/commands/use-names',
  params,
  body: namesFrom,
  errors: [...errors, 'gateway_unreachable', 'learning_unavailable', 'vpn_disabled'],
  response: command,
})

/** The newest 20 commands to a gateway, newest first. */
export const listCommands = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/commands',
  params,
  errors: ['gateway_not_found'],
  response: z.array(command),
})
