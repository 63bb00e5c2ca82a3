/**
 * Parses server-sent events (HTML standard, section "Server-sent events"), as far as the hub uses them: `event`, `data`
 * and comments. Pure.
 */
export type ServerEvent = { event: string; data: string }

/** Returns a function that takes the next piece of text and returns the events that it completes. */
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
 * The pause before the next try, after this number of failures (from 0); `random` in [0, 1) spreads many browsers.
 */
export function pauseMs(failures: number, random: number): number {
  const full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  return Math.round(full * (0.5 + random / 2))
}
