/** What a message calls a detection's label, and its time. Pure. */
import type { AlertPreferences, Language } from '@hedgerow/contract'

/** For whom an alert is put into words. */
export type Reader = Pick<AlertPreferences, 'language' | 'timeZone'>

let processTimeZone: string | undefined
/** The time zone of the hub's clock. */
export const hubTimeZone = (): string => (processTimeZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone)

/** The labels that gateways know by name; all others are a model's own words, and stay as they are. */
const GERMAN: ReadonlyMap<string, string> = new Map([
  ['animal', 'Tier'],
  ['badger', 'Dachs'],
  ['bear', 'Bär'],
  ['bicycle', 'Fahrrad'],
  ['bird', 'Vogel'],
  ['boar', 'Wildschwein'],
  ['boat', 'Boot'],
  ['bus', 'Bus'],
  ['car', 'Auto'],
  ['cat', 'Katze'],
  ['cow', 'Rind'],
  ['deer', 'Reh'],
  ['dog', 'Hund'],
  ['elephant', 'Elefant'],
  ['fire', 'Feuer'],
  ['fox', 'Fuchs'],
  ['giraffe', 'Giraffe'],
  ['hare', 'Hase'],
  ['horse', 'Pferd'],
  ['motion', 'Bewegung'],
  ['motorcycle', 'Motorrad'],
  ['person', 'Person'],
  ['raccoon', 'Waschbär'],
  ['sheep', 'Schaf'],
  ['smoke', 'Rauch'],
  ['train', 'Zug'],
  ['truck', 'Lkw'],
  ['vehicle', 'Fahrzeug'],
  ['wolf', 'Wolf'],
  ['zebra', 'Zebra'],
])

export function labelIn(language: Language, label: string): string {
  return language === 'de' ? (GERMAN.get(label.toLowerCase()) ?? label) : label
}

/** The English of 24 hours. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de' }
/** A formatter is slow to make; people may write one zone in many ways. */
const CLOCKS_KEPT = 100
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The time of day and the name of its zone: `12:46 CET`. */
export function timeIn({ language, timeZone }: Reader, at: number): string {
  const key = `${language} ${timeZone}`
  let clock = clocks.get(key)
  if (!clock) {
    if (clocks.size >= CLOCKS_KEPT) clocks.clear()
    const shown = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short', hourCycle: 'h23' } as const
    clock = new Intl.DateTimeFormat(LOCALES[language], { ...shown, timeZone })
    clocks.set(key, clock)
  }
  return clock.format(at)
}
