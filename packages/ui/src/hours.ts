const LABELLED_EVERY = 4
const HOUR_MS = 3_600_000

/**
 * The axis names the hours that begin in local 00, 04, 08 and so on, by when they begin: 04:30 in a zone of half an
 * hour. The hours between stay empty, and so does one that the clock repeats.
 */
export function tickLabel(hour: string): string {
  const start = new Date(hour)
  const isRepeated = new Date(start.getTime() - HOUR_MS).getHours() === start.getHours()
  return start.getHours() % LABELLED_EVERY === 0 && !isRepeated ? timeOf(start) : ''
}

/** An hour in full, for the tooltip and the table: "Nov 21, 04:00 – 05:00"; with its zone where the clock is set. */
export function hourLabel(hour: string): string {
  const start = new Date(hour)
  const end = new Date(start.getTime() + HOUR_MS)
  const around = [start.getTime() - HOUR_MS, end.getTime(), end.getTime() + HOUR_MS]
  const isSet = around.some((at) => new Date(at).getTimezoneOffset() !== start.getTimezoneOffset())
  const day = start.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
  const [from, to] = [start, end].map((at) => (isSet ? `${timeOf(at)} ${zoneOf(at)}` : timeOf(at)))
  return `${day}, ${from} – ${to}`
}

function timeOf(at: Date): string {
  return [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Such as CEST or GMT+5:30. */
function zoneOf(at: Date): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}
