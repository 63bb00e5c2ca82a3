/** Which orders are offered in which state, and why not. Pure. */
import type { DisarmTime } from '@hedgerow/contract'
import { ONLY_WATCHES, type Protection } from '@hedgerow/contract/protection'

export type Order =
  | { action: 'stop' }
  | { action: 'arm' }
  | { action: 'disarm'; lasts?: DisarmTime | undefined }
  | { action: 'fire'; deterrent: string }

type Offered = {
  key: 'stop' | 'pause' | 'disarm' | 'arm'
  words: string
  /** Undefined: it is asked for how long. */
  order: Order | undefined
  disabled: boolean
}

/**
 * Stop is always there, unless nothing can fire: the hub tries it for as long as a command lives, and a gateway that
 * sends no heartbeat may take it all the same. Only managers arm.
 */
export function offered({ state, reason }: Pick<Protection, 'state' | 'reason'>, mayArm: boolean): Offered[] {
  const stop: Offered[] =
    reason === ONLY_WATCHES ? [] : [{ key: 'stop', words: 'Stop', order: { action: 'stop' }, disabled: false }]
  if (state === 'disarmed')
    return mayArm ? [...stop, { key: 'arm', words: 'Arm', order: { action: 'arm' }, disabled: false }] : stop
  const disabled = state === 'offline'
  return [
    ...stop,
    { key: 'pause', words: 'Pause 1 h', order: { action: 'disarm', lasts: '1h' }, disabled },
    { key: 'disarm', words: 'Disarm…', order: undefined, disabled },
  ]
}

/** Why some are disabled. */
export const OFFLINE_REASON = 'Offline: it cannot be reached. Stop is tried for 20 s.'
