/** How what was found in a scene compares with what is there, picture by picture. */
import { overlapOf, type Box } from '../box.ts'
import { lumaOf, type Plane } from '../image.ts'
import { createRenderer, type Scene, type Truth } from './scene.ts'

export type Found = { readonly box: Box; readonly label?: string }

export type Tally = {
  /** Pictures times objects: found where they are; found where nothing is; there and not found. */
  right: number
  wrong: number
  missed: number
}

export type Measurement = Tally & {
  /** Of those that are right and have a label, how many have the true one. */
  labelled: number
}

export type MeasureOptions = {
  readonly width: number
  readonly height: number
  readonly framesPerSecond: number
  /** Least intersection over union of a box with the true one. Motion boxes have the shadow in them. */
  readonly leastOverlap?: number
}

/** Somebody of whom less is in the picture need not be found, and may be. */
const CLEARLY_VISIBLE = 0.5

/** Gives every picture of the scene to `look`, with its time, and counts what it finds. */
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

/** Share of what is there that was found; 1 when nothing is there. */
export function recallOf({ right, missed }: Tally): number {
  return right + missed === 0 ? 1 : right / (right + missed)
}
