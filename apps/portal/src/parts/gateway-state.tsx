import type { Gateway, Protection } from '@hedgerow/contract'
import { isProtected, protectionTone, protectionWord } from '@hedgerow/contract/protection'
import { statusMark } from '#api/gateways.ts'
import { useCountdown } from '@hedgerow/ui/now.ts'
import { lineAtSite } from './protection.ts'
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
  /** One that is well shows its status alone. */
  silent?: boolean
}

/** A gateway's status and protection, with the reason for the more urgent one. Offline is said once. */
export function GatewayState({ gateway, brief = false, silent = false }: GatewayStateProps) {
  const { status, protection } = gateway
  const reason = useReason(gateway)
  const isSaid = protection.state !== 'offline' && !(silent && protection.state === 'protected')
  return (
    <StatusMark
      {...statusMark(status)}
      {...(!brief && !(silent && isWell(gateway)) && { reason })}
      beside={isSaid && <ProtectionChip protection={protection} timeZone={gateway.timeZone} />}
    />
  )
}

/** Online, and it protects. */
export const isWell = ({ status, protection }: Pick<Gateway, 'status' | 'protection'>): boolean =>
  status === 'online' && isProtected(protection)

/** Of an online gateway the status has only good news. */
export function useReason({ status, statusReason, protection, timeZone }: Gateway): string {
  const { words: line } = lineAtSite(protection, useCountdown(protection.until), timeZone)
  return status !== 'online' || isProtected(protection) ? statusReason : line
}
