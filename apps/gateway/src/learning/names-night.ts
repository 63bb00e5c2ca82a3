/** One night's learning of names, in the thread: reads looks with features and reviews, and returns a head. */
import { learnNames, LEAST_CORRECTIONS, type NameHead, type NameLesson } from '@hedgerow/vision'
import { ANIMAL, isAnimalLabel, LEARNED_NAMES_MAX } from '@hedgerow/contract'
import { LABEL_SETS } from '../models/labels.ts'
import { isPersonLabel } from '../kernel/person-label.ts'
import { nameKey } from '../kernel/same-name.ts'
import type { StoredVerdict } from './night.ts'
import { mayLearn } from './schema.ts'
import type { NamedLook, NamesStore } from './names-store.ts'

export type NamesNight = {
  /** Undefined without looks that have features. */
  model: string | undefined
  /** How often people gave a name to anything, with features or without. */
  corrections: number
  /** How often people gave each name, most first. */
  counts: { name: string; corrections: number }[]
  /** Reviewed looks at anything else. */
  others: number
  head?: NameHead
  lessons: NameLesson[]
  /** What people call an animal, but is no kind of one that the rules know. */
  unknown: string[]
}

/** A night takes at most so many reviews. */
const REVIEWED_MAX = 4_000
const NAMES_SHOWN = 16

/** A name that may be learned: some kind of animal, and never a person, fire, smoke, a vehicle, or just `animal`. */
export function mayName(label: string): boolean {
  return isAnimalLabel(label) && !isPersonLabel(label) && nameKey(label) !== ANIMAL
}

export function learnNamesNow(
  store: Pick<NamesStore, 'looks' | 'look'>,
  reviews: readonly StoredVerdict[],
): NamesNight {
  const [newest] = store.looks(1)
  const model = newest?.model
  const given = reviews.filter(({ verdict }) => verdict !== null)
  const reviewed = given.slice(-REVIEWED_MAX).flatMap((review) => {
    const look = store.look(review.detection)
    if (look?.model !== model || !look) return []
    const truth = truthOf(look, review)
    // It says nothing about its kind.
    return truth.name === ANIMAL ? [] : [{ look, ...truth }]
  })
  const corrected = reviewed.filter(({ isCorrected }) => isCorrected)
  const named = new Set(corrected.map(({ name }) => name))
  const tally = Map.groupBy(
    reviewed.flatMap(({ name }) => (name !== undefined && named.has(name) ? [name] : [])),
    (name) => name,
  )
  const counts = [...tally]
    .map(([name, all]) => ({ name, corrections: all.length }))
    .toSorted((a, b) => b.corrections - a.corrections || (a.name < b.name ? -1 : 1))
    .slice(0, NAMES_SHOWN)
  const nameable = counts.filter(({ name }) => mayName(name))
  const names = nameable
    .filter(({ corrections }) => corrections >= LEAST_CORRECTIONS)
    .slice(0, LEARNED_NAMES_MAX)
    .map(({ name }) => name)
  const examples = reviewed.map(({ look, name }) => ({ ...look, name }))
  const learned = learnNames(examples, names)
  return {
    model,
    corrections: given.filter(({ label }) => label !== null && mayName(label)).length,
    counts: nameable,
    others: examples.filter(({ name }) => name === undefined || !names.includes(name)).length,
    ...(learned && { head: learned.head }),
    lessons: learned?.lessons ?? [],
    unknown: counts.flatMap(({ name }) =>
      isAnimalLabel(name) || !mayLearn(ANYWHERE, '', name) || isDetectors(name) ? [] : [name],
    ),
  }
}

const ANYWHERE = { alsoLearn: {} }
/** What a detector of COCO says itself: names are learned with such a one. */
export const isDetectors = (name: string) => LABEL_SETS.coco91.some((label) => label === name)

/** A right one is what people saw it called, a wrong one what they called it; a false alarm has no name. */
function truthOf({ label: shown }: NamedLook, { verdict, label }: StoredVerdict) {
  if (verdict === 'right') return { name: nameKey(shown), isCorrected: false }
  return { name: label === null ? undefined : nameKey(label), isCorrected: label !== null }
}
