/** What alerts of the hub itself say in German; their English is that of the facts. */
import type { Deed, FactData, RegistrationHold } from '@hedgerow/contract'

export const from = (ip: string) => ({ en: `from ${ip}`, de: `von ${ip}` })

export const HOLDS_DE: Readonly<Record<RegistrationHold, string>> = {
  gateway_limit_reached: 'Der Hub ist voll: die Höchstzahl der Gateways ist erreicht.',
  address_pool_exhausted: 'Im VPN-Netz ist keine Adresse frei.',
  device_token_taken: 'Ein anderes Gateway hat dasselbe Geräte-Token.',
  vpn_disabled: 'Das VPN des Hubs läuft nicht.',
}

export const STORAGE_DE: Readonly<Record<FactData['storage.low']['state'], string>> = {
  low: 'Auf dem Datenträger des Hubs ist fast kein Platz mehr: Bitte schaffen Sie Platz.',
  full: 'Die Datenbank des Hubs hat keinen Platz: Bitte schaffen Sie welchen auf dem Datenträger.',
  unwritable:
    'Die Datenbank des Hubs kann nicht schreiben: Sie oder ihr Datenträger ist schreibgeschützt oder gestört.',
  folder: 'Der Hub kann in seinem Datenordner keine Dateien schreiben.',
}

export const disarmedFor = (by: string, days: number) => ({
  en: `disarmed by ${by} for ${days} ${days === 1 ? 'day' : 'days'}: nothing fires until somebody arms it`,
  de: `seit ${days} ${days === 1 ? 'Tag' : 'Tagen'} von ${by} entschärft: nichts löst aus, bis jemand es scharf stellt`,
})

const REFUSALS_DE = new Map([
  ['disarmed', 'entschärft'],
  ['cool_down', 'Pause nach dem letzten Mal'],
  ['quiet_hours', 'Ruhezeit'],
  ['person_near', 'eine Person wurde gesehen'],
  ['hour_budget', 'Zeit dieser Stunde verbraucht'],
  ['day_budget', 'Zeit dieses Tages verbraucht'],
  ['not_watched', 'keine Kamera achtet auf Personen'],
  ['device_failed', 'das Gerät antwortet nicht'],
])

export function deedInGerman({ deterrent, seconds, outcome, code, reason, gone }: Deed): string {
  if (outcome === 'fired') {
    const after = gone === null ? '' : gone ? ' · nach 1 min weg' : ' · nach 1 min noch da'
    return `${deterrent} ${seconds} s${after}`
  }
  const why = (code !== null && REFUSALS_DE.get(code)) || reason
  return `${deterrent} ${outcome === 'refused' ? 'blockiert' : 'gestört'}: ${why}`
}
