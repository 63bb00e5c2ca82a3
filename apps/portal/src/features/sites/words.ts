/** The texts of the sites' screen and its form. Pure. */
import type { Site, SiteUses } from '@hedgerow/contract'

export type Values = { name: string; latitude: string; longitude: string; timeZone: string; notes: string }
type Fields = Omit<Site, 'id' | 'gateways'>

/** The time zones that this browser knows. */
export const ZONES: readonly string[] = Intl.supportedValuesOf('timeZone')

export const valuesOf = (site: Site | undefined): Values => ({
  name: site?.name ?? '',
  latitude: site?.latitude?.toString() ?? '',
  longitude: site?.longitude?.toString() ?? '',
  timeZone: site?.timeZone ?? '',
  notes: site?.notes ?? '',
})

/** A decimal comma is a point. Degrees that are no number become NaN, which the contract refuses. */
export const fieldsOf = ({ name, latitude, longitude, timeZone, notes }: Values): Fields => ({
  name,
  latitude: degreesIn(latitude),
  longitude: degreesIn(longitude),
  timeZone: timeZone.trim() === '' ? null : timeZone.trim(),
  notes,
})

const degreesIn = (text: string): number | null => (text.trim() === '' ? null : Number(text.trim().replace(',', '.')))

/** `47.5° N, 122.25° W` */
export function placeInWords({ latitude, longitude }: Pick<Site, 'latitude' | 'longitude'>): string | undefined {
  if (latitude === null || longitude === null) return undefined
  const side = (degrees: number, positive: string, negative: string) =>
    `${Number(Math.abs(degrees).toFixed(5))}° ${degrees < 0 ? negative : positive}`
  return `${side(latitude, 'N', 'S')}, ${side(longitude, 'E', 'W')}`
}

/** `14:05, Europe/Berlin` */
export function timeThere(timeZone: string, at: number): string {
  const time = new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone })
  return `${time}, ${timeZone}`
}

/** `1 gateway`, `1,204 gateways` */
export const counted = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? noun : `${noun}s`}`

/** What a deletion does, a sentence each. */
export function usesInWords({ gateways, rules, hasUpdates, invitations, views }: SiteUses): string[] {
  return [
    gateways === 0
      ? 'No gateway is in it.'
      : `${counted(gateways, 'gateway')} ${gateways === 1 ? 'stays, and is' : 'stay, and are'} then in no site.`,
    ...(rules.length > 0
      ? [
          `It cannot be deleted while ${rules.length === 1 ? 'an alert rule names' : 'alert rules name'} it: ` +
            `${rules.map((name) => `“${name}”`).join(', ')}.`,
        ]
      : []),
    ...(hasUpdates ? ['Its own settings of automatic updates are deleted.'] : []),
    ...(invitations > 0
      ? [`${counted(invitations, 'invitation')} then ${invitations === 1 ? 'puts' : 'put'} gateways in no site.`]
      : []),
    ...(views > 0
      ? [`${counted(views, 'saved view')} of Threats then ${views === 1 ? 'finds' : 'find'} nothing.`]
      : []),
  ]
}
