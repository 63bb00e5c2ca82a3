/** Protection in words. Pure. */
import type { Gateway } from '@hedgerow/contract'
import {
  countProtection,
  isProtected,
  PROTECTION_STATES,
  protectionLine,
  type Protection,
} from '@hedgerow/contract/protection'

/** What the gateways lack, as `2 of 4 gateways are not protected: 1 offline, 1 disarmed`; undefined for nothing. */
export function unprotected(
  all: readonly Protection[],
): { words: string; tone: 'danger' | 'warning' | 'plain' } | undefined {
  const counts = countProtection(all.filter((one) => !isProtected(one)).map(({ state }) => state))
  const [worst] = counts
  if (!worst) return undefined
  const lacking = counts.reduce((sum, [, count]) => sum + count, 0)
  const which =
    all.length === 1
      ? 'The gateway is'
      : `${lacking.toLocaleString()} of ${all.length.toLocaleString()} gateways ${lacking === 1 ? 'is' : 'are'}`
  const each = counts.map(([state, count]) => (all.length === 1 ? state : `${count.toLocaleString()} ${state}`))
  const tone =
    ({ offline: 'danger', unproven: 'plain', maintenance: 'plain' } as const)[
      worst[0] as 'offline' | 'unproven' | 'maintenance'
    ] ?? 'warning'
  return { words: `${which} not protected: ${each.join(', ')}`, tone }
}

type State = Pick<Gateway, 'status' | 'protection'>

/** What needs a person: what is not online, or known not to protect. Maintenance needs none until it ends. */
export const needsAttention = ({ status, protection }: State): boolean =>
  protection.state !== 'maintenance' &&
  (status !== 'online' || !(isProtected(protection) || protection.state === 'unproven'))

const URGENCY = { offline: 0, warning: 1, online: 2 }

/** For an order with the worst first: what is not protected, then warnings. */
export const urgency = ({ status, protection }: State): number =>
  (isProtected(protection) ? PROTECTION_STATES.length : PROTECTION_STATES.indexOf(protection.state)) * 3 +
  URGENCY[status]

/**
 * The sentence of a protection state in the time of its site, and for the pointer also in that of the person who looks,
 * where they differ.
 */
export function lineAtSite(
  protection: Protection,
  now: number,
  timeZone: string | null,
): { words: string; title: string } {
  const here = protectionLine(protection, now)
  const there = timeZone === null ? here : protectionLine(protection, now, timeZone)
  if (there === here) return { words: here, title: here }
  const named = `${there} ${zoneName(Date.parse(protection.until!), timeZone!)}`
  return { words: named, title: `${named}. Here: ${here}` }
}

/**
 * Why a gateway is as it is: how it protects, by whom and until when, and what its status is about. Of an online
 * gateway the status has only good news, and a warning names a blind camera itself.
 */
export function reasonAt(
  { status, statusReason, protection, timeZone }: Pick<Gateway, 'status' | 'statusReason' | 'protection' | 'timeZone'>,
  now: number,
): string {
  const { state, reason } = protection
  if (state === 'protected' || state === 'offline') return statusReason
  const line = lineAtSite(protection, now, timeZone).words
  if (status === 'online') return line
  return state === 'blind' && statusReason.includes(reason) ? statusReason : `${line} · ${statusReason}`
}

const zoneName = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''
