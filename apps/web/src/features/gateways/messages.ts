import type { claimGateway, ResponseOf } from '@hedgerow/contract'

export const NOT_AUTHORIZED = 'You are not authorized to access this gateway'

export const accessFailed = (reason: string): string => `Failed to access gateway: ${reason}`

export function claimedMessage({ name, status }: ResponseOf<typeof claimGateway>): string {
  return status === 'pending'
    ? `Gateway "${name}" is yours. It still waits for approval, and appears in the list once it is approved.`
    : `Gateway "${name}" is yours.`
}
