/** The time in a message. Pure. */
import type { AlertPreferences, Language } from '@hedgerow/contract'

/** For whom an alert is put into words. */
export type Reader = Pick<AlertPreferences, 'language' | 'timeZone'>

let processTimeZone: string | undefined
/** The time zone of the hub's clock. */
export const hubTimeZone = (): string => (processTimeZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone)

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
