/**
 * Server-sent events out of a byte stream, as far as the hub sends them: `event`, `data` and comments (the HTML
 * standard's section on event streams). Pure but for the stream, so that it can be tested in pieces of any size.
 */
export type ServerEvent = { event: string; data: string }

/** Gives a function that takes text as it comes and answers with the events that are complete by then. */
export function createEventParser(): (text: string) => ServerEvent[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  return (text) => {
    const lines = `${rest}${text}`.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    const complete: ServerEvent[] = []
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) complete.push({ event: event === '' ? 'message' : event, data: data.join('\n') })
        event = ''
        data = []
        continue
      }
      const colon = line.indexOf(':')
      const field = colon === -1 ? line : line.slice(0, colon)
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (field === 'event') event = value
      else if (field === 'data') data.push(value)
    }
    return complete
  }
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * How long to wait before the nth try in a row (from 0); `random` in [0, 1) keeps many browsers from coming at once.
 */
export function pauseMs(failures: number, random: number): number {
  const full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  return Math.round(full * (0.5 + random / 2))
}
