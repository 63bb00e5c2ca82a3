/**
 * The view of the list: search, status, protection, site, tag, order and layout. It is kept in the address, so that it
 * survives a reload and can be shared. Pure; the page reads and writes the address.
 */
import type { Gateway } from '@hedgerow/contract'
import { byNaturalOrder, byVersion } from '@hedgerow/contract/natural-order'
import { countProtection, isProtected, PROTECTION_STATES, type ProtectionState } from '@hedgerow/contract/protection'
import { isAt, placeKey, placeOf } from '#api/places.ts'
import { needsAttention, urgency } from '#parts/protection.ts'

/** `active`: online, or with a warning. */
const STATUSES = ['online', 'warning', 'offline', 'active'] as const
const PROTECTIONS = ['not', 'attention', ...PROTECTION_STATES] as const
const SORTS = ['name', 'status', 'location', 'address', 'version', 'seen', 'users'] as const

export type StatusFilter = (typeof STATUSES)[number] | 'any'
/** `not`: neither protected nor firing. `attention`: what the dashboard lists. */
export type ProtectionFilter = (typeof PROTECTIONS)[number] | 'any'
export type SortKey = (typeof SORTS)[number]
/** A window too narrow for the table shows cards either way. */
export type Layout = 'table' | 'cards'
export type View = {
  search: string
  status: StatusFilter
  protection: ProtectionFilter
  /** The id of a site or a location; empty for any. */
  site: string
  /** Empty for any. */
  tag: string
  /** The id of an alert, for the gateways that it is about; empty for any. */
  alert: string
  sort: SortKey
  descending: boolean
  layout: Layout
}

/** Unknown values in the address are ignored. */
export function readView(parameters: URLSearchParams): View {
  const sort = parameters.get('sort') ?? 'status'
  const key = sort.replace(/^-/, '')
  return {
    search: parameters.get('q') ?? '',
    status: STATUSES.find((status) => status === parameters.get('status')) ?? 'any',
    protection: PROTECTIONS.find((one) => one === parameters.get('protection')) ?? 'any',
    site: parameters.get('site') ?? '',
    tag: parameters.get('tag') ?? '',
    alert: /^[\w-]{1,40}$/.exec(parameters.get('alert') ?? '')?.[0] ?? '',
    sort: SORTS.find((known) => known === key) ?? 'status',
    descending: sort.startsWith('-'),
    layout: parameters.get('view') === 'cards' ? 'cards' : 'table',
  }
}

/** `parameters` with `view` in them: default values are left out, other parameters stay. */
export function writeView(parameters: URLSearchParams, view: View): URLSearchParams {
  const next = new URLSearchParams(parameters)
  const say = (name: string, value: string, usual: string) =>
    value === usual ? next.delete(name) : next.set(name, value)
  say('q', view.search, '')
  say('status', view.status, 'any')
  say('protection', view.protection, 'any')
  say('site', view.site, '')
  say('tag', view.tag, '')
  say('alert', view.alert, '')
  say('sort', `${view.descending ? '-' : ''}${view.sort}`, 'status')
  say('view', view.layout, 'table')
  return next
}

/** Whether the gateway has the status, the protection, the site and the tag of the view. */
export function isWanted(
  { status, protection: now, tags, ...where }: Pick<Gateway, 'status' | 'protection' | 'location' | 'site' | 'tags'>,
  { status: wanted, protection, site, tag }: Pick<View, 'status' | 'protection' | 'site' | 'tag'>,
): boolean {
  if (protection === 'attention' && !needsAttention({ status, protection: now })) return false
  if (protection === 'not' && isProtected(now)) return false
  if (PROTECTION_STATES.some((state) => state === protection) && protection !== now.state) return false
  if (tag !== '' && !tags.includes(tag)) return false
  if (!isAt(where, site)) return false
  return wanted === 'any' || status === wanted || (wanted === 'active' && status !== 'offline')
}

/** Choosing the same column again reverses the order. */
export const sortBy = (view: View, sort: SortKey): View => ({
  ...view,
  sort,
  descending: view.sort === sort && !view.descending,
})

const ORDERS: Readonly<Record<SortKey, (a: Gateway, b: Gateway) => number>> = {
  name: () => 0,
  status: (a, b) => urgency(a) - urgency(b),
  location: (a, b) => byNaturalOrder(placeOf(a), placeOf(b)),
  address: (a, b) => byNaturalOrder(a.publicIp ?? a.vpnInternalIp, b.publicIp ?? b.vpnInternalIp),
  version: (a, b) => byVersion(a.version ?? '', b.version ?? ''),
  // The most recent first.
  seen: (a, b) => (b.lastSeen ?? '').localeCompare(a.lastSeen ?? ''),
  users: (a, b) => a.connectedUsers - b.connectedUsers,
}

/** In the chosen order, then by name. */
export function sortGateways(
  gateways: readonly Gateway[],
  { sort, descending }: Pick<View, 'sort' | 'descending'>,
): readonly Gateway[] {
  const order = ORDERS[sort]
  const turn = descending ? -1 : 1
  return gateways.toSorted((a, b) => turn * (order(a, b) || byNaturalOrder(a.name, b.name)))
}

/**
 * The gateways of one site or, without a site, of one location, and what of them is not well: by protection, the worst
 * first, then other warnings.
 */
export type Site = {
  /** Its id, or the location. */
  key: string
  name: string
  gateways: readonly Gateway[]
  lacking: readonly (readonly [ProtectionState, number])[]
  warnings: number
}

/** In a fleet of this size the sites where all is well are folded until somebody opens them. */
const FOLDED_FROM = 60

/**
 * The sites in the order of their first gateways, so with the worst first where the gateways are; undefined where sites
 * would say nothing: under another order, and where no site has two gateways or all are at one.
 */
export function sitesOf(gateways: readonly Gateway[], sort: SortKey): readonly Site[] | undefined {
  if (sort !== 'status' && sort !== 'location') return undefined
  const groups = Map.groupBy(gateways, placeKey)
  if (groups.size < 2 || groups.size === gateways.length) return undefined
  return [...groups].map(([key, members]) => {
    const lacking = members.filter(({ protection }) => !isProtected(protection))
    return {
      key,
      name: placeOf(members[0]!),
      gateways: members,
      lacking: countProtection(lacking.map(({ protection }) => protection.state)),
      warnings: members.filter((one) => one.status !== 'online' && isProtected(one.protection)).length,
    }
  })
}

/** Whether a site that nobody opened or closed is folded. */
export const isFoldedAtFirst = ({ lacking, warnings }: Site, fleetSize: number): boolean =>
  fleetSize >= FOLDED_FROM && lacking.length === 0 && warnings === 0
