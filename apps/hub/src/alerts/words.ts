/** What an alert says, in the language of who reads it. Pure. */
import type { Language } from '@hedgerow/contract'

/** One incident of an alert. */
export type Line = {
  /** Of the incident. */
  id: string
  gatewayId: string
  gatewayName: string
  camera: string
  label: string
  /** The detection with the picture. */
  coverId: string | null
  /** Milliseconds since 1970. */
  startedAt: number
}

/** The first incidents of an alert, and how many there are in all. */
export type Told = { lines: readonly Line[]; count: number }

/** Lines in a message; more are counted. */
const LINES_MAX = 10

type Words = {
  line(line: Line): string
  several(count: number, first: string): string
  more(count: number): string
  notAcknowledged(title: string): string
  rule(name: string): string
  acknowledge: string
  open: string
}

const time = (ms: number) => new Date(ms).toISOString().slice(11, 16)

export const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    line: ({ label, gatewayName, camera, startedAt }) =>
      `${label} at ${gatewayName}, ${camera}, ${time(startedAt)} UTC`,
    several: (count, first) => `${count} threats, the first: ${first}`,
    more: (count) => `and ${count} more`,
    notAcknowledged: (title) => `Not acknowledged: ${title}`,
    rule: (name) => `Rule: ${name}`,
    acknowledge: 'Acknowledge',
    open: 'Open',
  },
  de: {
    line: ({ label, gatewayName, camera, startedAt }) =>
      `${label} bei ${gatewayName}, ${camera}, ${time(startedAt)} UTC`,
    several: (count, first) => `${count} Bedrohungen, die erste: ${first}`,
    more: (count) => `und ${count} weitere`,
    notAcknowledged: (title) => `Nicht bestätigt: ${title}`,
    rule: (name) => `Regel: ${name}`,
    acknowledge: 'Bestätigen',
    open: 'Öffnen',
  },
}

export function titleOf({ lines, count }: Told, language: Language = 'en'): string {
  const { line, several } = WORDS[language]
  const first = firstOf(lines)
  return count === 1 ? line(first) : several(count, line(lines[0] ?? first))
}

export function linesOf({ lines, count }: Told, language: Language = 'en'): string[] {
  const shown = lines.slice(0, LINES_MAX)
  const more = count - shown.length
  return [...shown.map(WORDS[language].line), ...(more > 0 ? [WORDS[language].more(more)] : [])]
}

/** Title and text of a message; step 0 is the first one. */
export function messageOf(told: Told, { step, ruleName }: { step: number; ruleName: string }, language: Language) {
  const { notAcknowledged, rule } = WORDS[language]
  const title = titleOf(told, language)
  return {
    title: step === 0 ? title : notAcknowledged(title),
    text: [...linesOf(told, language), rule(ruleName)].join('\n'),
  }
}

export function pathOf({ lines, count }: Told): string {
  return count === 1 ? `/threats?incident=${firstOf(lines).id}` : '/threats?review=none'
}

/** The first with a picture. */
export function firstOf(lines: readonly Line[]): Line {
  const first = lines.find(({ coverId }) => coverId !== null) ?? lines[0]
  if (!first) throw new Error('an alert tells of nothing')
  return first
}
