/**
 * Zones and masks: polygons on a camera's picture. The even-odd rule decides what is inside, so a polygon that crosses
 * itself or goes around a hole means what it looks like.
 */
import { footOf, type Box, type Point } from './box.ts'

/** Corners in shares of the picture, 0 to 1; the last is joined to the first. Fewer than three contain nothing. */
export type Polygon = readonly (readonly [x: number, y: number])[]

/**
 * Even-odd rule (Shimrat 1962): whether a ray from the point to the right crosses the outline an odd number of times.
 */
export function contains(polygon: Polygon, { x, y }: Point): boolean {
  let isInside = false
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i]!
    const [xj, yj] = polygon[j]!
    if (yi > y !== yj > y && x < xi + ((y - yi) / (yj - yi)) * (xj - xi)) isInside = !isInside
  }
  return isInside
}

/** Names of the zones in which the object stands: those that contain the middle of its box's lower edge. */
export function zonesOf(zones: Readonly<Record<string, Polygon>>, box: Box): string[] {
  const foot = footOf(box)
  // An object cut off by the lower edge of the picture stands on it, and a zone drawn to the edge reaches to it.
  const point = { x: Math.min(foot.x, BELOW_EDGE), y: Math.min(foot.y, BELOW_EDGE) }
  return Object.keys(zones).filter((name) => contains(zones[name]!, point))
}

const BELOW_EDGE = 1 - 1e-6
const SAMPLES = 16

/** Share of the box that the polygon covers, from 16 x 16 points of it: 0 to 1, in steps of 1/256. */
export function coveredShare(polygon: Polygon, box: Box): number {
  let inside = 0
  for (let row = 0; row < SAMPLES; row++)
    for (let column = 0; column < SAMPLES; column++) {
      const x = box.x + ((column + 0.5) / SAMPLES) * box.width
      const y = box.y + ((row + 0.5) / SAMPLES) * box.height
      if (contains(polygon, { x, y })) inside++
    }
  return inside / SAMPLES ** 2
}

/** A grid over the picture, row by row: 1 where one of the masks contains the middle of the cell. */
export function maskedCells(masks: readonly Polygon[], columns: number, rows: number): Uint8Array {
  const cells = new Uint8Array(columns * rows)
  for (let i = 0; i < cells.length; i++) {
    const middle = { x: ((i % columns) + 0.5) / columns, y: (Math.floor(i / columns) + 0.5) / rows }
    if (masks.some((mask) => contains(mask, middle))) cells[i] = 1
  }
  return cells
}
