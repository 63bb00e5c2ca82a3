/** Protection in words. Pure. */
import { countProtection, isProtected, type ProtectionState } from '@hedgerow/contract/protection'

const TONES = {
  offline: 'danger',
  disarmed: 'warning',
  blind: 'warning',
  blocked: 'warning',
  unproven: 'neutral',
  firing: 'signal',
  protected: 'good',
} as const satisfies Record<ProtectionState, string>

/** A newer hub may have more states. */
export const protectionTone = (state: ProtectionState) => (Object.hasOwn(TONES, state) ? TONES[state] : 'neutral')

export const protectionWord = (state: ProtectionState): string => `${state.charAt(0).toUpperCase()}${state.slice(1)}`

/** What the gateways lack, as `2 of 4 gateways are not protected: 1 offline, 1 disarmed`; undefined for nothing. */
export function unprotected(
  states: readonly ProtectionState[],
): { words: string; tone: 'danger' | 'warning' | 'plain' } | undefined {
  const counts = countProtection(states).filter(([state]) => !isProtected(state))
  const [worst] = counts
  if (!worst) return undefined
  const lacking = counts.reduce((sum, [, count]) => sum + count, 0)
  const which =
    states.length === 1
      ? 'The gateway is'
      : `${lacking.toLocaleString()} of ${states.length.toLocaleString()} gateways ${lacking === 1 ? 'is' : 'are'}`
  const each = counts.map(([state, count]) => (states.length === 1 ? state : `${count.toLocaleString()} ${state}`))
  const tone = ({ offline: 'danger', unproven: 'plain' } as const)[worst[0] as 'offline' | 'unproven'] ?? 'warning'
  return { words: `${which} not protected: ${each.join(', ')}`, tone }
}
