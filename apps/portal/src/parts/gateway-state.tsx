import type { Gateway, Protection } from '@hedgerow/contract'
import { protectionTone, protectionWord } from '@hedgerow/contract/protection'
import { statusMark } from '#api/gateways.ts'
import { useCountdown } from '@hedgerow/ui/now.ts'
import { lineAtSite, reasonAt } from './protection.ts'
import { StateChip } from '@hedgerow/ui/state-chip.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'

type ProtectionChipProps = {
  protection: Protection
  /** Of the site; null when it is unknown. */
  timeZone: string | null
  isFull?: boolean
}

/** A protection state: in a word, with its sentence for the pointer, or as the sentence. */
export function ProtectionChip({ protection, timeZone, isFull = false }: ProtectionChipProps) {
  const { state, until } = protection
  return (
    <StateChip
      tone={protectionTone(state)}
      word={protectionWord(state)}
      until={until}
      line={(now) => lineAtSite(protection, now, timeZone)}
      isFull={isFull}
    />
  )
}

type GatewayStateProps = {
  gateway: Gateway
  /** Without the reason. */
  brief?: boolean
  /** In a list: one that is well shows its status alone, or with its protection, and no reason. */
  ifWell?: 'status' | 'protection'
}

/** A gateway's status and protection, with the reasons. Offline is said once. */
export function GatewayState({ gateway, brief = false, ifWell }: GatewayStateProps) {
  const { status, protection } = gateway
  const reason = useReason(gateway)
  const isSaid = protection.state !== 'offline' && !(ifWell === 'status' && protection.state === 'protected')
  return (
    <StatusMark
      {...statusMark(status)}
      {...(!brief && !(ifWell !== undefined && isWell(gateway)) && { reason })}
      beside={isSaid && <ProtectionChip protection={protection} timeZone={gateway.timeZone} />}
    />
  )
}

/** Online, and nothing is to be said of its protection. */
export const isWell = ({ status, protection }: Pick<Gateway, 'status' | 'protection'>): boolean =>
  status === 'online' && protection.state === 'protected'

export const useReason = (gateway: Gateway): string => reasonAt(gateway, useCountdown(gateway.protection.until))
