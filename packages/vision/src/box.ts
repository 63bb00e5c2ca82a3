/**
 * An axis-parallel rectangle in shares of a picture: (0, 0) is its top left corner, (1, 1) its bottom right. The same
 * box is valid for a camera's full picture and for the small one that was processed.
 */
export type Box = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export type Point = { readonly x: number; readonly y: number }

export function areaOf(box: Box): number {
  return box.width * box.height
}

export function centreOf(box: Box): Point {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/** Where the object stands: the middle of the lower edge. */
export function footOf(box: Box): Point {
  return { x: box.x + box.width / 2, y: box.y + box.height }
}

/** Whether the point is in the box. */
export function isAround({ x, y, width, height }: Box, point: Point): boolean {
  return point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height
}

/** Area that two boxes share. */
export function intersectionOf(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return width > 0 && height > 0 ? width * height : 0
}

/** Intersection over union, 0 to 1; 0 for two boxes without area. */
export function overlapOf(a: Box, b: Box): number {
  const intersection = intersectionOf(a, b)
  if (intersection === 0) return 0
  return Math.min(1, intersection / (areaOf(a) + areaOf(b) - intersection))
}

/** The part inside the picture; without area when nothing is inside. */
export function clipToPicture(box: Box): Box {
  const x = clamp(box.x)
  const y = clamp(box.y)
  return { x, y, width: clamp(box.x + box.width) - x, height: clamp(box.y + box.height) - y }
}

/** Grown about its centre: each side gains `share` of the box's own length. May reach outside the picture. */
export function growBy(box: Box, share: number): Box {
  const dx = box.width * share
  const dy = box.height * share
  return { x: box.x - dx, y: box.y - dy, width: box.width + 2 * dx, height: box.height + 2 * dy }
}

/** The box with this centre and these sides. */
export function boxAround(centre: Point, width: number, height: number): Box {
  return { x: centre.x - width / 2, y: centre.y - height / 2, width, height }
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
