/** What alerts of the hub itself say in German; their English is that of the facts. */
import type { FactData, RegistrationHold } from '@hedgerow/contract'

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
