const LABELLED_EVERY = 4
const pad = (hour: number) => `${String(hour).padStart(2, '0')}:00`

/** The axis names 00:00, 04:00, 08:00 and so on in local time; the hours between stay empty. */
export function tickLabel(hour: string): string {
  const local = new Date(hour).getHours()
  return local % LABELLED_EVERY === 0 ? pad(local) : ''
}

/** An hour in full, for the tooltip and the table: "Nov 21, 04:00 – 05:00". */
export function hourLabel(hour: string): string {
  const start = new Date(hour)
  const day = start.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
  return `${day}, ${pad(start.getHours())} – ${pad((start.getHours() + 1) % 24)}`
}
