/** The incidents of one alert by site. Pure. */
import type { Incident } from '@hedgerow/contract'
import { placeOf } from '#api/places.ts'

export type SiteGroup = { name: string; words: string; incidents: readonly Incident[] }

const isPerson = (label: string) => label === 'person'

/**
 * The sites with the most incidents first, each with what was seen there, people first: `person 1, deer 5`. A gateway
 * without a site and a location is a site of its own.
 */
export function bySite(incidents: readonly Incident[]): SiteGroup[] {
  const groups = Map.groupBy(incidents, (one) => placeOf(one) || one.gatewayName)
  return [...groups]
    .map(([name, members]) => ({ name, words: labelsOf(members), incidents: members }))
    .toSorted((a, b) => b.incidents.length - a.incidents.length)
}

function labelsOf(incidents: readonly Incident[]): string {
  const counts = [...Map.groupBy(incidents, ({ label }) => label)].map(([label, { length }]) => ({ label, length }))
  return counts
    .toSorted((a, b) => Number(isPerson(b.label)) - Number(isPerson(a.label)) || b.length - a.length)
    .map(({ label, length }) => `${label} ${length}`)
    .join(', ')
}
