/**
 * Outlines and how they are filled. A figure is a list of polygons that run the same way around; their union is filled
 * (non-zero winding rule).
 */

/** Corners as x, y, x, y … */
export type Outline = Float64Array
export type Figure = readonly Outline[]

const ARC_STEPS = 6

/** A limb with round ends: from a circle around (x0, y0) to one around (x1, y1). */
export function limb(x0: number, y0: number, r0: number, x1: number, y1: number, r1: number): Outline {
  const angle = Math.atan2(y1 - y0, x1 - x0)
  const corners: number[] = []
  const arc = (x: number, y: number, r: number, from: number) => {
    for (let step = 0; step <= ARC_STEPS; step++) {
      const turn = from + (step / ARC_STEPS) * Math.PI
      corners.push(x + r * Math.cos(turn), y + r * Math.sin(turn))
    }
  }
  arc(x0, y0, r0, angle + Math.PI / 2)
  arc(x1, y1, r1, angle - Math.PI / 2)
  return Float64Array.from(corners)
}

export function ellipse(x: number, y: number, rx: number, ry: number): Outline {
  const steps = 4 * ARC_STEPS
  return Float64Array.from({ length: 2 * steps }, (_, i) => {
    const turn = ((i >> 1) / steps) * 2 * Math.PI
    return i % 2 === 0 ? x + rx * Math.cos(turn) : y + ry * Math.sin(turn)
  })
}

/** A triangle, brought to the same direction as the others. */
export function triangle(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): Outline {
  const isClockwise = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0
  return isClockwise ? Float64Array.of(ax, ay, cx, cy, bx, by) : Float64Array.of(ax, ay, bx, by, cx, cy)
}

export function mapFigure(figure: Figure, map: (x: number, y: number) => readonly [number, number]): Outline[] {
  return figure.map((outline) => {
    const result = new Float64Array(outline.length)
    for (let i = 0; i < outline.length; i += 2) result.set(map(outline[i]!, outline[i + 1]!), i)
    return result
  })
}

export type Bounds = { left: number; top: number; right: number; bottom: number }

export function boundsOf(figure: Figure): Bounds {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
  for (const outline of figure)
    for (let i = 0; i < outline.length; i += 2) {
      bounds.left = Math.min(bounds.left, outline[i]!)
      bounds.right = Math.max(bounds.right, outline[i]!)
      bounds.top = Math.min(bounds.top, outline[i + 1]!)
      bounds.bottom = Math.max(bounds.bottom, outline[i + 1]!)
    }
  return bounds
}

const LINES_A_PIXEL = 4

/**
 * Calls `paint(x, y, coverage)` for each pixel of a picture of `width` x `height` that the figure touches; coverage is
 * the share of the pixel, above 0, at most 1. Coordinates are pixels.
 */
export function fill(
  figure: Figure,
  width: number,
  height: number,
  paint: (x: number, y: number, coverage: number) => void,
): void {
  const bounds = boundsOf(figure)
  const left = Math.max(0, Math.floor(bounds.left))
  const right = Math.min(width, Math.ceil(bounds.right))
  if (right <= left) return
  const coverage = new Float32Array(right - left)
  const first = Math.max(0, Math.floor(bounds.top)) * LINES_A_PIXEL
  const end = Math.min(height, Math.ceil(bounds.bottom)) * LINES_A_PIXEL
  const crossings = crossingsOf(figure, first, end)
  for (let line = first; line < end; line += LINES_A_PIXEL) {
    coverage.fill(0)
    for (let part = line - first; part < line - first + LINES_A_PIXEL; part++) {
      const row = crossings[part]!
      let winding = 0
      for (let i = 0; i + 1 < row.length; i++) {
        winding += row[i]!.turn
        if (winding !== 0) cover(coverage, row[i]!.x - left, row[i + 1]!.x - left)
      }
    }
    const y = line / LINES_A_PIXEL
    for (let x = left; x < right; x++) {
      const share = coverage[x - left]! / LINES_A_PIXEL
      if (share > 0) paint(x, y, Math.min(1, share))
    }
  }
}

type Crossing = { x: number; turn: number }

/** Where the edges cross each line from `first` to before `end`, left to right; several lines cross each pixel. */
function crossingsOf(figure: Figure, first: number, end: number): Crossing[][] {
  const lines: Crossing[][] = Array.from({ length: Math.max(0, end - first) }, () => [])
  for (const outline of figure) {
    let x0 = outline[outline.length - 2]!
    let y0 = outline[outline.length - 1]!
    for (let i = 0; i < outline.length; i += 2) {
      const x1 = outline[i]!
      const y1 = outline[i + 1]!
      // A line more on both sides, and the comparison below decides: the division is not exact.
      const top = Math.max(first, Math.floor(Math.min(y0, y1) * LINES_A_PIXEL - 1))
      const bottom = Math.min(end, Math.ceil(Math.max(y0, y1) * LINES_A_PIXEL + 1))
      for (let line = top; line < bottom; line++) {
        const y = (line + 0.5) / LINES_A_PIXEL
        if (y0 <= y !== y1 <= y)
          insert(lines[line - first]!, { x: x0 + ((y - y0) / (y1 - y0)) * (x1 - x0), turn: y1 > y0 ? 1 : -1 })
      }
      x0 = x1
      y0 = y1
    }
  }
  return lines
}

/** Finds the place from the right: a line has a few crossings, too few for `sort` to be worth its call. */
function insert(row: Crossing[], crossing: Crossing): void {
  let at = row.length
  for (; at > 0 && row[at - 1]!.x > crossing.x; at--) row[at] = row[at - 1]!
  row[at] = crossing
}

function cover(coverage: Float32Array, from: number, to: number): void {
  const begin = Math.max(0, from)
  const end = Math.min(coverage.length, to)
  for (let x = Math.floor(begin); x < end; x++) coverage[x]! += Math.min(x + 1, end) - Math.max(x, begin)
}
