/**
 * A person who is glimpsed keeps water off before there is a detection: at once when the look was sure, else when the
 * next look finds a person there too. One unsure look at an animal in infrared light is no person.
 */
import { growBy, overlapOf, type Sighting } from '@hedgerow/vision'
import { isPersonLabel } from '../../kernel/person-label.ts'

/** From this score on, a person may be there; from the higher one on, one look is enough. */
const POSSIBLE = 0.25
const SURE = 0.5
/** The next look is at one of the next pictures; a later one says nothing about the first. */
const NEXT_WITHIN_PICTURES = 5
const AROUND = 0.5

export function createGlimpses(pictureMs: number, glimpse: (label: string) => void) {
  let before: { found: readonly Sighting[]; atMs: number } = { found: [], atMs: -Infinity }
  let isUnsure = false

  return {
    see(sightings: readonly Sighting[], atMs: number): void {
      const found = sightings.filter(({ score }) => score >= POSSIBLE)
      const wasThere = ({ box }: Sighting) =>
        atMs - before.atMs < NEXT_WITHIN_PICTURES * pictureMs &&
        before.found.some((other) => overlapOf(growBy(other.box, AROUND), growBy(box, AROUND)) > 0.1)
      const persons = found.filter(({ label }) => isPersonLabel(label))
      const unsure = persons.filter((one) => one.score < SURE && !wasThere(one))
      for (const one of found) if (!unsure.includes(one)) glimpse(one.label)
      before = { found: persons, atMs }
      isUnsure = unsure.length > 0
    },
    /** Whether the next picture must be looked at. */
    isUnsure: () => isUnsure,
    boxes: () => before.found.map(({ box }) => box),
  }
}
