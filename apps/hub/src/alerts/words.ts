/** What an alert says, in the reader's language. Pure. */
import type { Alert, BlindState, Language } from '@hedgerow/contract'
import { hubTimeZone, isPerson, labelIn, manyOf, timeIn, type Reader } from './seen.ts'
import type { Sighting } from './sightings.ts'

/** One thing that an alert is about. */
export type Line = {
  kind: Alert['kind']
  /** The id of the incident, the gateway, the request or the certificate. */
  id: string
  /** Empty for the hub itself. */
  gatewayId: string
  gatewayName: string
  /** The gateway's site at that time, or its location; empty or absent for none. */
  site?: string
  /** Empty when it concerns no single camera. */
  camera: string
  /** What was seen, or the name of the deterrent, the device or the certificate. */
  label: string
  /** The reason, in each language or in the gateway's own words; of a certificate the day on which it expires. */
  detail: string | Readonly<Record<Language, string>>
  /** Of a camera that sends a picture: what is wrong with it. */
  sees?: Exclude<BlindState, 'offline'>
  /** The detection with the picture. */
  coverId: string | null
  /** Milliseconds since 1970. */
  startedAt: number
}

/** The first things that an alert is about, and how many there are. All are of one kind. */
export type LineList = { lines: readonly Line[]; count: number; sightings?: readonly Sighting[] }

/** A message lists at most this many lines and gives the number of the others. */
export const LINES_MAX = 10
/** A title names at most this many labels. */
const KINDS_MAX = 5
/** The title of an outage names at most this many sites. */
const SITES_MAX = 3
/** What a whole site can have at once, as without power. */
const OUTAGES: readonly Alert['kind'][] = ['gateway-quiet', 'gateway-warning', 'camera-dark']

type Words = {
  line: Readonly<Record<Alert['kind'], (line: Line, timeZone: string) => string>>
  several: Readonly<Record<Alert['kind'], string>>
  first: string
  sightings(count: number, places: readonly string[]): string
  offlineAt(count: number, site: string): string
  atSites(sites: number): string
  more(count: number): string
  notAcknowledged(title: string): string
  /** The end of one outage, and of several. A kind without words here has no such message. */
  over: Readonly<Partial<Record<Alert['kind'], { line(line: Line): string; several(count: number): string }>>>
  cleared(title: string): string
  rule(name: string): string
}

const SEES: Readonly<Record<Exclude<BlindState, 'offline'>, Readonly<Record<Language, string>>>> = {
  frozen: { en: 'always sends the same picture', de: 'liefert immer dasselbe Bild' },
  covered: { en: 'is covered', de: 'ist verdeckt' },
  turned: { en: 'was turned', de: 'wurde verdreht' },
  unfocused: { en: 'is out of focus', de: 'ist unscharf' },
}

export const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    line: {
      detection: ({ label, gatewayName, camera, startedAt }, timeZone) =>
        `${label} at ${gatewayName}, ${camera}, ${timeIn({ language: 'en', timeZone }, startedAt)}`,
      'gateway-quiet': ({ gatewayName }) => `Gateway "${gatewayName}" is offline`,
      'gateway-warning': ({ gatewayName }) => `Gateway "${gatewayName}" has a warning`,
      'camera-dark': ({ gatewayName, camera, sees }) =>
        `Camera "${camera}" of "${gatewayName}" ${sees ? SEES[sees].en : 'gives no picture'}`,
      'deterrent-failed': ({ gatewayName, label }) => `Deterrent "${label}" of "${gatewayName}" failed`,
      disk: () => "Your hub's disk is nearly full",
      approval: ({ label }) => `New gateway "${label}" waits for approval`,
      certificate: ({ label }) => `${label} expires soon`,
      backup: () => 'The backup of your hub fails',
      test: () => 'Test message from your hub',
    },
    several: {
      detection: 'threats',
      'gateway-quiet': 'gateways are offline',
      'gateway-warning': 'gateways have a warning',
      'camera-dark': 'cameras give no new picture',
      'deterrent-failed': 'failures of deterrents',
      disk: 'warnings about the disk',
      approval: 'gateways wait for approval',
      certificate: 'certificates expire soon',
      backup: 'failures of backups',
      test: 'test messages',
    },
    first: 'the first',
    sightings: (count, [only = '', ...others]) =>
      `${count} sightings at ${others.length === 0 ? only : `${others.length + 1} sites`}`,
    offlineAt: (count, site) => `${site}: ${count} gateways are offline`,
    atSites: (sites) => `at ${sites} sites`,
    more: (count) => `and ${count} more`,
    notAcknowledged: (title) => `Not acknowledged: ${title}`,
    over: {
      'gateway-quiet': {
        line: ({ gatewayName }) => `Gateway "${gatewayName}" is no longer offline`,
        several: (count) => `${count} gateways are no longer offline`,
      },
      'camera-dark': {
        line: ({ gatewayName, camera }) => `Camera "${camera}" of "${gatewayName}" gives new pictures again`,
        several: (count) => `${count} cameras give new pictures again`,
      },
      disk: {
        line: () => "Your hub's disk has room again",
        several: () => "Your hub's disk has room again",
      },
    },
    cleared: (title) => `No longer so: ${title}`,
    rule: (name) => `Rule: ${name}`,
  },
  de: {
    line: {
      detection: ({ label, gatewayName, camera, startedAt }, timeZone) =>
        `${labelIn('de', label)} bei ${gatewayName}, ${camera}, ${timeIn({ language: 'de', timeZone }, startedAt)}`,
      'gateway-quiet': ({ gatewayName }) => `Gateway „${gatewayName}“ ist offline`,
      'gateway-warning': ({ gatewayName }) => `Gateway „${gatewayName}“ hat eine Warnung`,
      'camera-dark': ({ gatewayName, camera, sees }) =>
        `Kamera „${camera}“ von „${gatewayName}“ ${sees ? SEES[sees].de : 'liefert kein Bild'}`,
      'deterrent-failed': ({ gatewayName, label }) => `Abschreckung „${label}“ von „${gatewayName}“ ist gestört`,
      disk: () => 'Der Datenträger des Hubs ist fast voll',
      approval: ({ label }) => `Neues Gateway „${label}“ wartet auf Freigabe`,
      certificate: ({ label }) => `${label} läuft bald ab`,
      backup: () => 'Die Sicherung Ihres Hubs misslingt',
      test: () => 'Testnachricht Ihres Hubs',
    },
    several: {
      detection: 'Bedrohungen',
      'gateway-quiet': 'Gateways sind offline',
      'gateway-warning': 'Gateways haben eine Warnung',
      'camera-dark': 'Kameras liefern kein neues Bild',
      'deterrent-failed': 'Störungen von Abschreckungen',
      disk: 'Warnungen zum Datenträger',
      approval: 'Gateways warten auf Freigabe',
      certificate: 'Zertifikate laufen bald ab',
      backup: 'misslungene Sicherungen',
      test: 'Testnachrichten',
    },
    first: 'zuerst',
    sightings: (count, [only = '', ...others]) =>
      `${count} Sichtungen ${others.length === 0 ? `bei ${only}` : `an ${others.length + 1} Orten`}`,
    offlineAt: (count, site) => `${site}: ${count} Gateways sind offline`,
    atSites: (sites) => `an ${sites} Orten`,
    more: (count) => `und ${count} weitere`,
    notAcknowledged: (title) => `Nicht bestätigt: ${title}`,
    over: {
      'gateway-quiet': {
        line: ({ gatewayName }) => `Gateway „${gatewayName}“ ist nicht mehr offline`,
        several: (count) => `${count} Gateways sind nicht mehr offline`,
      },
      'camera-dark': {
        line: ({ gatewayName, camera }) => `Kamera „${camera}“ von „${gatewayName}“ liefert wieder neue Bilder`,
        several: (count) => `${count} Kameras liefern wieder neue Bilder`,
      },
      disk: {
        line: () => 'Der Datenträger des Hubs hat wieder Platz',
        several: () => 'Der Datenträger des Hubs hat wieder Platz',
      },
    },
    cleared: (title) => `Gilt nicht mehr: ${title}`,
    rule: (name) => `Regel: ${name}`,
  },
}

export function titleOf(
  { lines, count, sightings = [] }: LineList,
  { language, timeZone }: Reader = { language: 'en', timeZone: hubTimeZone() },
): string {
  const { line, several, first, offlineAt } = WORDS[language]
  const shown = firstOf(lines)
  const oldest = lines[0] ?? shown
  if (count === 1) return line[shown.kind](shown, timeZone)
  if (shown.kind === 'detection' && sum(sightings) === count) return sightingsTitle(sightings, language)
  const sites = new Set(lines.map(({ site = '' }) => site))
  if (shown.kind === 'gateway-quiet' && sites.size === 1 && shown.site) return offlineAt(count, shown.site)
  if (OUTAGES.includes(shown.kind) && sites.size > 1 && lines.length === count) return outageTitle(lines, language)
  return `${count} ${several[shown.kind]}, ${first}: ${line[oldest.kind](oldest, timeZone)}`
}

/** `94 gateways are offline at 4 sites: Birch Hill 25, Ford 24, Mill 23, and 1 more`: the most first. */
function outageTitle(lines: readonly Line[], language: Language): string {
  const { several, atSites, more } = WORDS[language]
  const places = [...Map.groupBy(lines, ({ site, gatewayName }) => site || gatewayName)]
    .map(([place, { length }]) => ({ place, count: length }))
    .toSorted((a, b) => b.count - a.count)
  const each = places.slice(0, SITES_MAX).map(({ place, count }) => `${place} ${count}`)
  const others = places.length - each.length
  const named = [...each, ...(others > 0 ? [more(others)] : [])].join(', ')
  return `${lines.length} ${several[firstOf(lines).kind]} ${atSites(places.length)}: ${named}`
}

const sum = (sightings: readonly Sighting[]) => sightings.reduce((total, { count }) => total + count, 0)

/** `12 sightings at 3 sites: 3 people, 5 deer, 4 boar`: people first, then the most. */
function sightingsTitle(sightings: readonly Sighting[], language: Language): string {
  const places = [...new Set(sightings.map(({ place }) => place))]
  const kinds = [...Map.groupBy(sightings, ({ label }) => label)].map(([label, ofLabel]) => ({
    label,
    count: sum(ofLabel),
  }))
  const ordered = kinds.toSorted((a, b) => Number(isPerson(b.label)) - Number(isPerson(a.label)) || b.count - a.count)
  const each = ordered.slice(0, KINDS_MAX).map(({ label, count }) => manyOf(language, label, count))
  const others = ordered.length - each.length
  const more = others > 0 ? [WORDS[language].more(others)] : []
  return `${WORDS[language].sightings(sum(sightings), places)}: ${[...each, ...more].join(', ')}`
}

export function linesOf({ lines: all, count }: LineList, { language, timeZone }: Reader): string[] {
  const { line, more } = WORDS[language]
  const isFirst = ({ kind, label }: Line) => kind === 'detection' && isPerson(label)
  const lines = all.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
  const shown = lines.slice(0, LINES_MAX)
  const others = count - shown.length
  return [
    ...shown.map((one) =>
      [line[one.kind](one, timeZone), detailOf(one, language)].filter((part) => part !== '').join(': '),
    ),
    ...(others > 0 ? [more(others)] : []),
  ]
}

export function detailOf({ detail }: Line, language: Language): string {
  return typeof detail === 'string' ? detail : detail[language]
}

/** Which message of an alert: its own is step 0, later ones are its rule's steps; `cleared` says that all is well. */
export type Stage = number | 'cleared'

/** Title and text of a message. */
export function messageOf(list: LineList, { step, ruleName }: { step: Stage; ruleName: string }, reader: Reader) {
  const { notAcknowledged, rule } = WORDS[reader.language]
  if (step === 'cleared') {
    const title = titleOfEnd(list, reader)
    return { title, text: [title, rule(ruleName)].join('\n') }
  }
  const title = titleOf(list, reader)
  return {
    title: step === 0 ? title : notAcknowledged(title),
    text: [...linesOf(list, reader), rule(ruleName)].join('\n'),
  }
}

/** Describes the state now: at night "Over: … is offline" reads as "… is offline". */
function titleOfEnd(list: LineList, reader: Reader): string {
  const { over, cleared } = WORDS[reader.language]
  const shown = firstOf(list.lines)
  const words = over[shown.kind]
  if (!words) return cleared(titleOf(list, reader))
  return list.count === 1 ? words.line(shown) : words.several(list.count)
}

export function pathOf({ lines, count }: LineList, alertId: string): string {
  const { kind, id, gatewayId } = firstOf(lines)
  if (kind === 'detection') return count === 1 ? `/threats?incident=${id}` : `/threats?alert=${alertId}`
  if (kind === 'approval') return '/gateway-approvals'
  if (kind === 'certificate') return '/settings'
  if (kind === 'test') return '/alert-rules'
  if (kind === 'disk' || kind === 'backup') return '/dashboard'
  if (count === 1) return `/gateways/${gatewayId}`
  return `/gateways?alert=${alertId}`
}

/** The first line with a picture, or else the first line; of a person if there is one. */
export function firstOf(all: readonly Line[]): Line {
  const people = all.filter(({ label, kind }) => kind === 'detection' && isPerson(label))
  const lines = people.length > 0 ? people : all
  const first = lines.find(({ coverId }) => coverId !== null) ?? lines[0]
  if (!first) throw new Error('an alert has no lines')
  return first
}
