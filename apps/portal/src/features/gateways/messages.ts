import type { claimGateway, ResponseOf } from '@hedgerow/contract'
import type { View } from './view.ts'

export function claimedMessage({ name, status }: ResponseOf<typeof claimGateway>): string {
  return status === 'pending'
    ? `Gateway "${name}" is yours. It still waits for approval, and appears in the list once it is approved.`
    : `Gateway "${name}" is yours.`
}

/** Says what was looked for where nothing is found. */
export function noMatch({ search, status }: Pick<View, 'search' | 'status'>): string {
  if (search.trim() === '') return `No gateway is ${status === 'warning' ? 'in warning' : status} now.`
  const which =
    status === 'any' ? 'Nothing in the fleet' : `No gateway that is ${status === 'warning' ? 'in warning' : status}`
  return `${which} has “${search.trim()}” in its name, id, place, address, version or status.`
}
