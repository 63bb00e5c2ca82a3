import type { claimGateway, ResponseOf } from '@hedgerow/contract'

export function claimedMessage({ name, status }: ResponseOf<typeof claimGateway>): string {
  return status === 'pending'
    ? `Gateway "${name}" is yours. It still waits for approval, and appears in the list once it is approved.`
    : `Gateway "${name}" is yours.`
}
