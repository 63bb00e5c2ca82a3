/**
 * Names of animals that people of this site use and the detector does not: learned from corrections, given to
 * detections of animals before anything else sees them, and undone by one click. Persons, vehicles, fire and smoke are
 * never renamed, because only an animal's label is.
 */
import { join } from 'node:path'
import {
  ANIMAL,
  isAnimalLabel,
  type Detection,
  type LearnedHead,
  type LearnedNames,
  type Verdict,
} from '@hedgerow/contract'
import { LEAST_CORRECTIONS, nameOf, type NameLesson } from '@hedgerow/vision'
import { z } from 'zod'
import { isSameName } from '../kernel/same-name.ts'
import type { Sight } from '../sources/source.ts'
import { fromText, toText, type HeadVersion } from './names-store.ts'
import { isDetectors, mayName, type NamesNight } from './names-night.ts'
import { LEARNING_FILE, openLearningStore, type LearningStore } from './store.ts'

export type Named = { label: string; verdict: Verdict }

/** A name for rules: `reason` says why it may not stand in one yet. */
export type KnownName = { name: string; reason: string | undefined }

export type Names = {
  /** The label that this detection gets instead of the detector's; undefined to leave it. */
  name(
    detection: Detection,
    known: { before: Detection | undefined; sight: Sight | undefined; hour: number },
  ): Named | undefined
  takeOver(night: NamesNight, isAsked: boolean): void
  undo(number: number, by: string): boolean
  /** What this gateway itself learned, for another one; undefined when there is nothing. */
  give(): LearnedHead | undefined
  /** Uses what another gateway learned. In words why not, or undefined. */
  use(head: LearnedHead, from: string): string | undefined
  known(): KnownName[]
  /** Names that a version gave, no active one gives, and no detector says itself. */
  undone(): readonly string[]
  /** Names that people gave and no version has learned yet, and no detector says itself. */
  unlearned(): readonly string[]
  report(): LearnedNames
}

/** The stage of a verdict that gave a name. */
export const NAMED = 'named'
const PAUSE_MS = 7 * 86_400_000
const LOOKED = 200
const SHOWN = 12
const VERSIONS_SHOWN = 10
const NIGHT = 'names'

const night = z.object({
  model: z.string().optional(),
  corrections: z.number(),
  counts: z.array(z.object({ name: z.string(), corrections: z.number() })),
  others: z.number(),
  lessons: z.array(
    z.object({
      name: z.string(),
      corrections: z.number(),
      named: z.number(),
      wrong: z.number(),
      hasPassed: z.boolean(),
    }),
  ),
  unknown: z.array(z.string()),
  note: z.string(),
})
type Night = z.output<typeof night>

export function createNames(store: LearningStore, clock: () => number): Names {
  let active: HeadVersion[] = []
  let undone: readonly string[] = []
  let unlearned: readonly string[] = []
  reload()

  /** What this gateway learned comes first. */
  function reload(): void {
    const versions = store.names.versions()
    active = versions
      .filter(({ state }) => state === 'active')
      .toSorted((a, b) => Number(a.origin !== null) - Number(b.origin !== null) || b.number - a.number)
    const given = new Set(active.flatMap(({ head }) => passedOf(head)))
    const all = new Set(versions.flatMap(({ head }) => passedOf(head)))
    undone = [...all.difference(given)].filter((name) => !store.names.isDetected(name))
    const named = lastNight()?.counts ?? []
    unlearned = named
      .map(({ name }) => name)
      .filter((name) => !all.has(name) && !isDetectors(name) && !store.names.isDetected(name))
  }

  function look(glance: Parameters<typeof nameOf>[1], model: string) {
    let doubted: { version: HeadVersion; name: string; probability: number } | undefined
    for (const version of active) {
      const found = version.model === model ? nameOf(version.head, glance) : undefined
      if (!found) continue
      if (found.isSure) return { version, ...found }
      doubted ??= { version, ...found }
    }
    return doubted && { ...doubted, isSure: false }
  }

  function verdictOf(version: HeadVersion, probability: number, reason: string): Verdict {
    const by = `version ${version.number}${version.origin === null ? '' : ` of ${version.origin}`}`
    return {
      stage: NAMED,
      by: by.slice(0, 200),
      outcome: 'unsure',
      score: Math.round(probability * 1_000) / 1_000,
      reason,
    }
  }

  /** A name that was given stays: a later picture may be worse, and what was told is not taken back. */
  function kept(detection: Detection, before: Detection | undefined): Named | undefined {
    const verdict = before?.verdicts?.find(({ stage }) => stage === NAMED)
    if (!before || !verdict || isSameName(before.label, detection.label)) return undefined
    return active.some(({ number }) => verdict.by.split(' ')[1] === String(number))
      ? { label: before.label, verdict }
      : undefined
  }

  function saveNight({ head: _head, ...rest }: NamesNight, note: string): void {
    const stored: Night = { ...rest, model: rest.model, note }
    store.set(NIGHT, JSON.stringify(stored))
    reload()
  }

  function lastNight(): Night | undefined {
    const text = store.get(NIGHT)
    return text === undefined ? undefined : night.safeParse(JSON.parse(text)).data
  }

  function pausedUntil(): number | undefined {
    const last = store.names.versions().findLast(({ state, origin }) => state === 'undone' && origin === null)
    const passed = clock() - (last?.endedAt ?? -Infinity)
    return passed >= 0 && passed < PAUSE_MS ? last!.endedAt! + PAUSE_MS : undefined
  }

  function listOf({ counts, lessons, others, note }: Night): LearnedNames['list'] {
    return counts.map(({ name, corrections }) => {
      const lesson = lessons.find((each) => each.name === name)
      if (!lesson) return { name, corrections, state: 'collecting', message: missing(corrections, others) }
      const state = lesson.hasPassed ? 'passed' : 'failed'
      return { name, corrections, state, message: [inWords(lesson), note].filter((part) => part !== '').join(' ') }
    })
  }

  return {
    name(detection, { before, sight, hour }) {
      const { label, camera, box } = detection
      if (active.length === 0 || !isAnimalLabel(label)) return undefined
      const features = sight?.features
      const found = features && look({ features: features.values, box, hour, camera }, features.model)
      if (found?.isSure) {
        if (isSameName(found.name, label)) return undefined
        const reason = `Named by this gateway’s learning: the detector said ${label}.`
        return { label: found.name, verdict: verdictOf(found.version, found.probability, reason) }
      }
      const earlier = kept(detection, before)
      if (earlier) return earlier
      if (!found || isSameName(found.name, label) || isSameName(ANIMAL, label)) return undefined
      const reason = `It may be ${found.name}: too unsure for this gateway’s learning. The detector said ${label}.`
      return { label: ANIMAL, verdict: verdictOf(found.version, found.probability, reason) }
    },

    takeOver(result, isAsked) {
      const { head, lessons, model } = result
      const passed = lessons.filter(({ hasPassed }) => hasPassed)
      if (!head || model === undefined || passed.length === 0) return saveNight(result, '')
      const own = active.find(({ origin }) => origin === null)
      // Nothing new was said.
      if (own?.model === model && JSON.stringify(own.lessons) === JSON.stringify(lessons)) return saveNight(result, '')
      const until = isAsked ? undefined : pausedUntil()
      if (until !== undefined) {
        const day = new Date(until).toISOString().slice(0, 10)
        return saveNight(result, `A person undid a version: nothing takes over by itself before ${day}.`)
      }
      store.names.begin({ at: clock(), origin: null, model, head, lessons })
      saveNight(result, '')
    },

    undo(number, by) {
      const isUndone = store.names.undo(number, clock(), by)
      reload()
      return isUndone
    },

    give() {
      const own = active.find(({ origin }) => origin === null)
      return own && toText(own.head, own.model)
    },

    use(text, from) {
      const given = fromText(text)
      if (!given?.head.names.every(mayName)) return 'What the other gateway learned is not whole, or names no animals.'
      const model = store.names.looks(1)[0]?.model
      if (model !== undefined && model !== given.model)
        return 'The detector of this gateway is another one: what the other gateway learned does not fit it.'
      store.names.begin({ at: clock(), origin: from, model: given.model, head: given.head, lessons: [] })
      reload()
      return undefined
    },

    known() {
      const given = new Map<string, string | undefined>(
        active.flatMap(({ head }) => passedOf(head).map((name) => [name, undefined])),
      )
      const last = lastNight()
      for (const { name, state, message } of last ? listOf(last) : [])
        if (!given.has(name))
          given.set(name, state === 'passed' ? 'It is learned, but no version of it is active.' : message)
      return [...given].map(([name, reason]) => ({ name, reason }))
    },

    undone: () => undone,
    unlearned: () => unlearned,

    report() {
      const last = lastNight()
      const looks = active.length === 0 ? [] : store.names.looks(LOOKED)
      const before = looks.flatMap(({ id, camera, at, label, model, ...glance }) => {
        const found = isAnimalLabel(label) ? look({ ...glance, camera }, model) : undefined
        const now = found && (found.isSure ? found.name : ANIMAL)
        if (now === undefined || isSameName(now, label) || (!found!.isSure && isSameName(found!.name, label))) return []
        return [{ id, camera, at: new Date(at).toISOString(), label, now }]
      })
      return {
        problem: problemOf(last),
        list: last ? listOf(last) : [],
        versions: store.names.versions().toReversed().slice(0, VERSIONS_SHOWN).map(toVersion),
        looked: looks.length,
        before: before.slice(0, SHOWN),
      }
    },
  }
}

/** For a check beside the agent; none where there is no file, or an older one. */
export function readLearnedNames(dataDir: string): KnownName[] {
  let store: LearningStore | undefined
  try {
    store = openLearningStore(join(dataDir, LEARNING_FILE), 'read-only')
    return createNames(store, Date.now).known()
  } catch {
    return []
  } finally {
    store?.close()
  }
}

function problemOf(last: Night | undefined): string | null {
  if (last === undefined) return null
  const { model, unknown, corrections } = last
  if (model === undefined && corrections > 0)
    return (
      'No detection came with features: names are learned with the detector ssdlite-coco. Where it was added by an ' +
      'earlier version, add it again: hedgerow-gateway model add ssdlite-coco'
    )
  if (unknown.length === 0) return null
  return (
    `No kind of animal ends these names: ${unknown.join(', ')}. Write its kind last, such as “Bella dog”, so that ` +
    'rules for any animal hold.'
  ).slice(0, 500)
}

const passedOf = ({ names, thresholds }: HeadVersion['head']) => names.filter((_, i) => thresholds[i]! <= 1)

function missing(corrections: number, others: number): string {
  const parts = [
    corrections < LEAST_CORRECTIONS ? `${LEAST_CORRECTIONS - corrections} more corrections` : '',
    others < LEAST_CORRECTIONS ? `${LEAST_CORRECTIONS - others} more reviews of anything else` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'It is learned in the next night.' : `${parts.join(' and ')} are needed.`
}

function inWords({ corrections, named, wrong, hasPassed }: NameLesson): string {
  const others = wrong === 1 ? '1 other' : `${wrong} others`
  const counts = `On held-out reviews it named ${named - wrong} of ${corrections} right and ${others} wrong.`
  if (hasPassed) return counts
  return `Not used yet: at most 5 % may be wrong. ${counts} Correct more of them, of different days and places.`
}

function toVersion({
  number,
  at,
  state,
  endedAt,
  endedBy,
  origin,
  head,
}: HeadVersion): LearnedNames['versions'][number] {
  return {
    number,
    at: new Date(at).toISOString(),
    state,
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
    endedBy,
    names: passedOf(head),
    from: origin,
  }
}
