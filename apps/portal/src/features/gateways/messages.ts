import type { claimGateway, ResponseOf } from '@hedgerow/contract'
import type { View } from './view.ts'

export function claimedMessage({ name, status }: ResponseOf<typeof claimGateway>): string {
  return status === 'pending'
    ? `Gateway "${name}" is yours. It still waits for approval, and appears in the list once it is approved.`
    : `Gateway "${name}" is yours.`
}

export const numberOfGateways = (count: number): string => `${count} ${count === 1 ? 'gateway' : 'gateways'}`

export const deletedMessage = (name: string): string => `Gateway "${name}" deleted.`
export const deleteFailed = (reason: string): string => `Failed to delete gateway: ${reason}`
export const taggedMessage = (changed: number): string =>
  changed === 0 ? 'They had these tags already.' : `Tags of ${numberOfGateways(changed)} changed.`
export const locationSaved = (location: string): string =>
  location === '' ? 'Location removed.' : `Location: ${location}`

/** What a deletion does; an agent that still runs asks to join again. */
export const DELETION_FOLLOWS =
  'A deleted gateway leaves the VPN at once, and people on its page are disconnected. The hub deletes its detections and its history. If the agent still runs on the device, it asks to join again and waits under Pending Gateway Registrations: to keep the device out, stop the agent first.'

/** The message when nothing is found. */
export function noMatch({ search, status, tag }: Pick<View, 'search' | 'status' | 'tag'>): string {
  const state = status === 'warning' ? 'has a warning' : `is ${status}`
  const tagged = tag === '' ? '' : ` with the tag “${tag}”`
  if (search.trim() === '' && status === 'any') return `No gateway has the tag “${tag}”.`
  if (search.trim() === '') return `No gateway${tagged} ${state} now.`
  const which = `No gateway${tagged}${status === 'any' ? '' : ` that ${state}`}`
  return `${which} has “${search.trim()}” in its name, id, location, tags, address, version or status.`
}
