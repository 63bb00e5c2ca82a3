/** One sighting for each object, where several looks at parts of a picture overlap or a model names it twice. */
import { areaOf, intersectionOf, overlapOf, type Box } from './box.ts'
import type { Sighting } from './tracker.ts'

/** What a model found in one look; `part` is where it looked, in shares of the picture. */
export type PartLook<S extends Sighting> = { readonly part: Box; readonly found: readonly S[] }

/** Boxes that overlap by more are one object, whatever their labels. */
const SAME_OBJECT = 0.6
/** A box of the same label that has this share of itself in another one is a part of that. */
const WITHIN = 0.8
/** A box that ends at the edge of its part gives way to any that covers this share of it. */
const COVERED = 0.5
/** Nearer to the edge of its part than this share of it, a box is cut off there. */
const EDGE = 0.02
const ABOUT_AS_SURE = 0.8
/** Two boxes that overlap less are two objects. */
const APART = 0.2
/** The whole object stays instead of a part of it, unless the part is surer by more than this factor. */
const CLEARLY_SURER = 1.5

/** Boxes are in shares of the whole picture. The surest come first. */
export function oneEach<S extends Sighting>(looks: readonly PartLook<S>[]): S[] {
  const all = looks.flatMap(({ part, found }) =>
    found.map((sighting) => ({ sighting, isCut: isCutOff(sighting.box, part) })),
  )
  const single = all.filter(({ sighting }) => !isAroundSeveral(sighting, all))
  const ordered = single.toSorted((a, b) => Number(a.isCut) - Number(b.isCut) || b.sighting.score - a.sighting.score)
  let selected: S[] = []
  for (const { sighting, isCut } of ordered) {
    const { box, label, score } = sighting
    if (selected.some((other) => overlapOf(other.box, box) > SAME_OBJECT)) continue
    if (isCut && selected.some((other) => intersectionOf(other.box, box) > COVERED * areaOf(box))) continue
    const ofLabel = selected.filter((other) => other.label === label)
    if (ofLabel.some((other) => isWithin(box, other.box))) continue
    const parts = ofLabel.filter((other) => isWithin(other.box, box))
    if (parts.some((part) => part.score > CLEARLY_SURER * score)) continue
    selected = [...selected.filter((other) => !parts.includes(other)), sighting]
  }
  return selected.toSorted((a, b) => b.score - a.score)
}

/** A box around several objects, which are about as sure, is none. */
function isAroundSeveral<S extends Sighting>(one: S, all: readonly { sighting: S }[]): boolean {
  const parts = all.flatMap(({ sighting: { box, label, score } }) =>
    label === one.label && score > ABOUT_AS_SURE * one.score && box !== one.box && isWithin(box, one.box) ? [box] : [],
  )
  return parts.some((part) => parts.some((other) => overlapOf(part, other) < APART))
}

const isWithin = (inner: Box, outer: Box) => intersectionOf(inner, outer) > WITHIN * areaOf(inner)

/** Whether the box ends where its part does, and the picture goes on. */
function isCutOff(box: Box, part: Box): boolean {
  const [dx, dy] = [EDGE * part.width, EDGE * part.height]
  return (
    (part.x > 0 && box.x < part.x + dx) ||
    (part.y > 0 && box.y < part.y + dy) ||
    (part.x + part.width < 1 && box.x + box.width > part.x + part.width - dx) ||
    (part.y + part.height < 1 && box.y + box.height > part.y + part.height - dy)
  )
}
