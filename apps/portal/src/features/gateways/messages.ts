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
export const placedMessage = (count: number, site: string | undefined): string =>
  site === undefined
    ? `${numberOfGateways(count)} taken out of their sites.`
    : `${numberOfGateways(count)} put in the site “${site}”.`
export const locationSaved = (location: string): string =>
  location === '' ? 'Location removed.' : `Location: ${location}`

/** What a deletion does; an agent that still runs asks to join again. */
export const DELETION_FOLLOWS =
  'A deleted gateway leaves the VPN at once, and people on its page are disconnected. The hub deletes its ' +
  'detections and its history. If the agent still runs on the device, it asks to join again and waits under ' +
  'Pending Gateway Registrations: to keep the device out, stop the agent first.'

const PROTECTED_AS = new Map<View['protection'], string>([
  ['not', 'is not protected'],
  ['attention', 'needs attention'],
])

/** The message when nothing is found. */
export function noMatch({
  search,
  status,
  protection,
  site,
  tag,
}: Pick<View, 'search' | 'status' | 'protection' | 'site' | 'tag'>): string {
  const states = [
    ...(status === 'any' ? [] : [status === 'warning' ? 'has a warning' : `is ${status}`]),
    ...(protection === 'any' ? [] : [PROTECTED_AS.get(protection) ?? `is ${protection}`]),
  ].join(' and ')
  const tagged = `${site === '' ? '' : ' of this site'}${tag === '' ? '' : ` with the tag “${tag}”`}`
  if (search.trim() === '' && states === '')
    return site !== ''
      ? `There is no gateway${tagged}.`
      : tag === ''
        ? 'The gateways of this alert are deleted.'
        : `No gateway has the tag “${tag}”.`
  if (search.trim() === '') return `No gateway${tagged} ${states} now.`
  const which = `No gateway${tagged}${states === '' ? '' : ` that ${states}`}`
  return `${which} has “${search.trim()}” in its name, id, site, location, tags, address, version or status.`
}
