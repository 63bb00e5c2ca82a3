import type { claimGateway, ResponseOf, SiteUses } from '@hedgerow/contract'
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
  tag,
}: Pick<View, 'search' | 'status' | 'protection' | 'tag'>): string {
  const states = [
    ...(status === 'any' ? [] : [status === 'warning' ? 'has a warning' : `is ${status}`]),
    ...(protection === 'any' ? [] : [PROTECTED_AS.get(protection) ?? `is ${protection}`]),
  ].join(' and ')
  const tagged = tag === '' ? '' : ` with the tag “${tag}”`
  if (search.trim() === '' && states === '')
    return tag === '' ? 'The gateways of this alert are deleted.' : `No gateway has the tag “${tag}”.`
  if (search.trim() === '') return `No gateway${tagged} ${states} now.`
  const which = `No gateway${tagged}${states === '' ? '' : ` that ${states}`}`
  return `${which} has “${search.trim()}” in its name, id, location, tags, address, version or status.`
}

/**
 * What happens to everything that names the site when these gateways get the location `to`; undefined when nothing
 * does, or the location does not change.
 */
export function siteMessage(site: string, to: string, ids: readonly string[], uses: SiteUses): string | undefined {
  const { gatewayIds, rules, hasUpdates, views } = uses
  const named = [
    ...(rules.length > 0
      ? [`the alert ${rules.length === 1 ? 'rule' : 'rules'} ${rules.map((one) => `“${one}”`).join(', ')}`]
      : []),
    ...(hasUpdates ? ['automatic updates of its own'] : []),
    ...(views > 0 ? [`${views} saved ${views === 1 ? 'view' : 'views'}`] : []),
  ]
  if (site === to.trim() || named.length === 0) return undefined
  const words = `The site “${site}” is named by ${named.join(' and by ')}.`
  const staying = gatewayIds.filter((id) => !ids.includes(id)).length
  if (staying > 0) {
    const who = `${numberOfGateways(staying)} ${staying === 1 ? 'stays' : 'stay'} there`
    return `${words} ${who}, so this does not change, and does not cover the new location.`
  }
  return to.trim() === ''
    ? `${words} No gateway stays there, so it then covers none: change it, or enter a location.`
    : `${words} No gateway stays there, so this follows to “${to.trim()}”.`
}
