/** Why a deterrent did not fire, for callers and the ledger. */
export const refusals = {
  unknown_deterrent: 'gateway.yaml has no deterrent of this name.',
  disarmed: 'The device is disarmed.',
  snoozed: 'The device or the camera is snoozed.',
  not_ready: 'It is not known to be off yet, or the process that guards it is starting.',
  busy: 'It is on already.',
  too_long: 'This is longer than gateway.yaml allows.',
  not_armed_now: 'gateway.yaml arms it at other hours.',
  quiet_hours: 'These are its quiet hours.',
  person_near: 'A person was seen there less than a minute ago.',
  watcher_unknown: 'gateway.yaml lets a camera watch it that the device does not have.',
  not_watched: 'A camera that watches it does not look for persons now.',
  cool_down: 'It fired a moment ago, and its pause is not over.',
  hour_budget: 'Its seconds for this hour are used up.',
  day_budget: 'Its seconds for this day are used up.',
  not_recorded: 'The disk does not take what has to be written first.',
  device_failed: 'The device did not say that it is on, so it is being switched off.',
  stopped: 'It was stopped before it was on.',
} as const

export type RefusalCode = keyof typeof refusals
export type Refusal = { refused: RefusalCode; message: string }

export function refusal(code: RefusalCode, detail?: string): Refusal {
  return { refused: code, message: detail === undefined ? refusals[code] : `${refusals[code]} (${detail})` }
}
