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

type Look = (plane: Plane, atMs: number) => readonly Found[]

/** Passes every picture of the scene to `look`, with its time, and counts the results. */
export function measure(scene: Scene, options: MeasureOptions, look: Look): Measurement {
  return measureAll(scene, options, [look])[0]!
}

/** `measure` for several programs that look at the same pictures: drawing them takes most of the time. */
export function measureAll(
  scene: Scene,
  { width, height, framesPerSecond, leastOverlap = 0.3 }: MeasureOptions,
  looks: readonly Look[],
): Measurement[] {
  const renderer = createRenderer(scene, width, height)
  const results = looks.map(() => ({ right: 0, wrong: 0, missed: 0, labelled: 0 }))
  for (let atMs = 0; atMs < scene.durationMs; atMs += 1_000 / framesPerSecond) {
    const { image, truth } = renderer.render(atMs)
    const plane = lumaOf(image)
    for (const [i, look] of looks.entries()) count(results[i]!, look(plane, atMs), truth, leastOverlap)
  }
  return results
}

function count(result: Measurement, found: readonly Found[], truth: readonly Truth[], leastOverlap: number): void {
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

/** Share of what was found that is right; 1 when nothing was found. */
export function precisionOf({ right, wrong }: Tally): number {
  return right + wrong === 0 ? 1 : right / (right + wrong)
}

/** Share of the existing objects that were found; 1 when there are none. */
export function recallOf({ right, missed }: Tally): number {
  return right + missed === 0 ? 1 : right / (right + missed)
}
