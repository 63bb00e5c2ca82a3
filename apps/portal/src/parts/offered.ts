/** Which orders are offered in which state, and why not. Pure. */
import type { DisarmTime, Gateway, SnoozeKind, SnoozeTime } from '@hedgerow/contract'
import { ONLY_WATCHES, type Protection } from '@hedgerow/contract/protection'

type Scope = { kind: SnoozeKind; camera?: string | undefined }

export type Order =
  | { action: 'stop' }
  | { action: 'arm' }
  | { action: 'disarm'; lasts?: DisarmTime | undefined }
  /** `until` is ISO 8601. */
  | ({ action: 'snooze'; lasts?: SnoozeTime | undefined; until?: string | undefined } & Scope)
  | ({ action: 'end-snooze' } & Scope)
  | { action: 'fire'; deterrent: string }

type Offered = {
  key: string
  words: string
  /** Undefined: a dialog asks for how long. */
  order: Order | undefined
  disabled: boolean
}

/**
 * Stop is always there, unless nothing can fire: the hub tries it for as long as a command lives, and a gateway that
 * sends no heartbeat may take it all the same. Only managers arm, and end maintenance.
 */
export function offered(
  { state, reason, snoozes }: Pick<Protection, 'state' | 'reason'> & Pick<Gateway, 'snoozes'>,
  mayManage: boolean,
): Offered[] {
  const disabled = state === 'offline'
  const stop: Offered[] =
    reason === ONLY_WATCHES ? [] : [{ key: 'stop', words: 'Stop', order: { action: 'stop' }, disabled: false }]
  const ends = snoozes
    .filter(({ kind }) => kind === 'snooze' || mayManage)
    .map(({ kind, camera }): Offered => {
      const words = `End ${kind}${camera === null ? '' : ` of ${camera}`}`
      const order = { action: 'end-snooze', kind, ...(camera !== null && { camera }) } as const
      return { key: words, words, order, disabled }
    })
  const snooze = { key: 'snooze', words: 'Snooze…', order: undefined, disabled }
  if (state === 'disarmed') {
    const arm: Offered[] = mayManage ? [{ key: 'arm', words: 'Arm', order: { action: 'arm' }, disabled: false }] : []
    return [...stop, ...arm, ...ends, snooze]
  }
  if (snoozes.some(({ camera }) => camera === null)) return [...stop, ...ends, snooze]
  return [
    ...stop,
    ...ends,
    { key: 'pause', words: 'Pause 1 h', order: { action: 'disarm', lasts: '1h' }, disabled },
    { key: 'disarm', words: 'Disarm…', order: undefined, disabled },
    snooze,
  ]
}

/** Why some are disabled. */
export const OFFLINE_REASON = 'Offline: it cannot be reached. Stop is tried for 20 s.'
