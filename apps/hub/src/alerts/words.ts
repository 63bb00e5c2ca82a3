/** The words of an alert. Pure. */

/** One incident of an alert. */
export type Line = {
  /** Of the incident. */
  id: string
  gatewayId: string
  gatewayName: string
  camera: string
  label: string
  /** The detection with the picture. */
  coverId: string | null
  /** Milliseconds since 1970. */
  startedAt: number
}

/** The first incidents of an alert, and how many there are in all. */
export type Told = { lines: readonly Line[]; count: number }

/** Lines in a message; more are counted. */
const LINES_MAX = 10

export function titleOf({ lines, count }: Told): string {
  const first = firstOf(lines)
  return count === 1 ? lineOf(first) : `${count} threats, the first: ${lineOf(lines[0] ?? first)}`
}

export function linesOf({ lines, count }: Told): string[] {
  const shown = lines.slice(0, LINES_MAX)
  const more = count - shown.length
  return [...shown.map(lineOf), ...(more > 0 ? [`and ${more} more`] : [])]
}

export function pathOf({ lines, count }: Told): string {
  return count === 1 ? `/threats?incident=${firstOf(lines).id}` : '/threats?review=none'
}

/** The first with a picture. */
export function firstOf(lines: readonly Line[]): Line {
  const first = lines.find(({ coverId }) => coverId !== null) ?? lines[0]
  if (!first) throw new Error('an alert tells of nothing')
  return first
}

function lineOf({ label, gatewayName, camera, startedAt }: Line): string {
  return `${label} at ${gatewayName}, ${camera}, ${new Date(startedAt).toISOString().slice(11, 16)} UTC`
}
