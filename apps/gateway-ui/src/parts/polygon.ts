/** Zones and masks while they are drawn: polygons in shares of the picture, 0 to 1. Each function returns a new one. */

export type Corner = readonly [x: number, y: number]
export type Polygon = readonly Corner[]

export const LEAST_CORNERS = 3
const MOST_CORNERS = 100

/** Inside the picture, to a thousandth of it: finer than a pixel of the processed picture. */
export function moveCorner(polygon: Polygon, index: number, [x, y]: Corner): Polygon {
  return polygon.with(index, [within(x), within(y)])
}

/** Halfway to the next corner; the same polygon when it has as many as the file allows. */
export function insertCorner(polygon: Polygon, index: number): Polygon {
  if (polygon.length >= MOST_CORNERS) return polygon
  return polygon.toSpliced(index + 1, 0, middleOf(polygon, index))
}

/** The same polygon when it has only three corners. */
export function removeCorner(polygon: Polygon, index: number): Polygon {
  return polygon.length <= LEAST_CORNERS ? polygon : polygon.toSpliced(index, 1)
}

/** The point halfway from a corner to the next one; the last is joined to the first. */
export function middleOf(polygon: Polygon, index: number): Corner {
  const [from, to] = [polygon[index]!, polygon[(index + 1) % polygon.length]!]
  return [within((from[0] + to[0]) / 2), within((from[1] + to[1]) / 2)]
}

/** A rectangle that leaves room on all sides; further ones begin beside the first. */
export function newPolygon(others: number): Polygon {
  const shift = (others % 5) * 0.05
  const [left, top, right, bottom] = [0.3 + shift, 0.3 + shift, 0.6 + shift, 0.6 + shift].map(within) as [
    number,
    number,
    number,
    number,
  ]
  return [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ]
}

function within(share: number): number {
  return Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 1_000
}
