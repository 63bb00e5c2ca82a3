/** Compares what was found in a scene with the truth, picture by picture. */
import { overlapOf, type Box } from '../box.ts'
import { lumaOf, type Plane } from '../image.ts'
import { createRenderer, type Scene, type Truth } from './scene.ts'

export type Found = { readonly box: Box; readonly label?: string }

export type Tally = {
  /** Counts of objects over all pictures: found at their place; found where nothing is; missed. */
  right: number
  wrong: number
  missed: number
}

export type Measurement = Tally & {
  /** How many of the right ones that have a label have the true label. */
  labelled: number
}

export type MeasureOptions = {
  readonly width: number
  readonly height: number
  readonly framesPerSecond: number
  /** Least intersection over union of a box with the true one. Motion boxes include the shadow. */
  readonly leastOverlap?: number
}

/** A figure with less than this share in the picture may be found or missed. */
const CLEARLY_VISIBLE = 0.5

/** Passes every picture of the scene to `look`, with its time, and counts the results. */
export function measure(
  scene: Scene,
  { width, height, framesPerSecond, leastOverlap = 0.3 }: MeasureOptions,
  look: (plane: Plane, atMs: number) => readonly Found[],
): Measurement {
  const renderer = createRenderer(scene, width, height)
  const result: Measurement = { right: 0, wrong: 0, missed: 0, labelled: 0 }
  for (let atMs = 0; atMs < scene.durationMs; atMs += 1_000 / framesPerSecond) {
    const { image, truth } = renderer.render(atMs)
    const found = look(lumaOf(image), atMs)
    const unmatched = new Set<Truth>(truth)
    for (const { box, label } of found) {
      const match = [...unmatched].find((there) => overlapOf(there.box, box) >= leastOverlap)
      if (match) {
        unmatched.delete(match)
        result.right++
        if (label === match.label) result.labelled++
      } else result.wrong++
    }
    for (const { visible } of unmatched) if (visible > CLEARLY_VISIBLE) result.missed++
  }
  return result
}

/** Share of what was found that is right; 1 when nothing was found. */
export function precisionOf({ right, wrong }: Tally): number {
  return right + wrong === 0 ? 1 : right / (right + wrong)
}

/** Share of the existing objects that were found; 1 when there are none. */
export function recallOf({ right, missed }: Tally): number {
  return right + missed === 0 ? 1 : right / (right + missed)
}
