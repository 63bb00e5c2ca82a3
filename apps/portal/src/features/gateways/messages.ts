import type { claimGateway, ResponseOf } from '@hedgerow/contract'
import type { View } from './view.ts'

export function claimedMessage({ name, status }: ResponseOf<typeof claimGateway>): string {
  return status === 'pending'
    ? `Gateway "${name}" is yours. It still waits for approval, and appears in the list once it is approved.`
    : `Gateway "${name}" is yours.`
}

/** The message when nothing is found. */
export function noMatch({ search, status }: Pick<View, 'search' | 'status'>): string {
  if (search.trim() === '') return `No gateway ${status === 'warning' ? 'has a warning' : `is ${status}`} now.`
  const which =
    status === 'any' ? 'No gateway' : `No gateway that ${status === 'warning' ? 'has a warning' : `is ${status}`}`
  return `${which} has “${search.trim()}” in its name, id, location, address, version or status.`
}
