import type { Gateway, Protection } from '@hedgerow/contract'
import { isProtected, protectionLine, protectionTone, protectionWord } from '@hedgerow/contract/protection'
import { statusMark } from '#api/gateways.ts'
import { useCountdown } from '@hedgerow/ui/now.ts'
import { StateChip } from '@hedgerow/ui/state-chip.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'

/** A protection state: in a word, with its sentence for the pointer, or as the sentence. */
export function ProtectionChip({ protection, isFull = false }: { protection: Protection; isFull?: boolean }) {
  const { state, until } = protection
  return (
    <StateChip
      tone={protectionTone(state)}
      word={protectionWord(state)}
      until={until}
      line={(now) => protectionLine(protection, now)}
      isFull={isFull}
    />
  )
}

/** A gateway's status and protection, with the reason for the more urgent one. Offline is said once. */
export function GatewayState({ gateway, brief = false }: { gateway: Gateway; brief?: boolean }) {
  const { status, protection } = gateway
  const reason = useReason(gateway)
  return (
    <StatusMark
      {...statusMark(status)}
      {...(!brief && { reason })}
      beside={protection.state !== 'offline' && <ProtectionChip protection={protection} />}
    />
  )
}

/** Of an online gateway the status has only good news. */
export function useReason({ status, statusReason, protection }: Gateway): string {
  const line = protectionLine(protection, useCountdown(protection.until))
  return status !== 'online' || isProtected(protection.state) ? statusReason : line
}
