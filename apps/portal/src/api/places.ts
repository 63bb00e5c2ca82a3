/** Where things are: in a site or, without one, at the location that the gateway has. Pure. */
import type { SiteName } from '@hedgerow/contract'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'

type Placed = { site: SiteName | null; location: string }

/** The site's name or, without a site, the location. */
export const placeOf = ({ site, location }: Placed): string => site?.name ?? location

/** What stands for the place in an address: the site's id or, without a site, the location. */
export const placeKey = ({ site, location }: Placed): string => site?.id ?? location

/** Whether it is at the place of an address; older addresses have the site's name. Empty for any place. */
export const isAt = (one: Placed, place: string): boolean =>
  place === '' || placeKey(one) === place || placeOf(one) === place

const ID = /^[a-z2-7]{12}$/

/** The places of a list to choose from, with the chosen one. */
export function placeOptions(all: readonly Placed[], chosen: string): readonly (readonly [string, string])[] {
  const places = new Map(all.map((one) => [placeKey(one), placeOf(one)]))
  places.delete('')
  const isKnown = chosen === '' || places.has(chosen)
  const sorted = [...places].toSorted(([, a], [, b]) => byNaturalOrder(a, b))
  return [
    ['', 'All sites'],
    ...sorted,
    ...(isKnown ? [] : [[chosen, ID.test(chosen) ? 'A deleted site' : chosen] as const]),
  ]
}
