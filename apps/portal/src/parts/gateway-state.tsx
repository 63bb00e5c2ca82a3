import type { Gateway, Protection } from '@hedgerow/contract'
import { isProtected } from '@hedgerow/contract/protection'
import { statusMark } from '#api/gateways.ts'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { protectionTone, protectionWord } from './protection.ts'

/** A protection state, with its reason for the pointer. */
export function ProtectionChip({ protection: { state, reason } }: { protection: Protection }) {
  return (
    <Chip tone={protectionTone(state)} title={reason}>
      {protectionWord(state)}
    </Chip>
  )
}

/** A gateway's status and protection, with the reason for the more urgent one. Offline is said once. */
export function GatewayState({ gateway, brief = false }: { gateway: Gateway; brief?: boolean }) {
  const { status, protection } = gateway
  return (
    <StatusMark
      {...statusMark(status)}
      {...(!brief && { reason: reasonOf(gateway) })}
      beside={protection.state !== 'offline' && <ProtectionChip protection={protection} />}
    />
  )
}

/** Of an online gateway the status has only good news. */
export function reasonOf({ status, statusReason, protection: { state, reason } }: Gateway): string {
  if (status !== 'online' || isProtected(state)) return statusReason
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
}
