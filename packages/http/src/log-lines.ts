/** Lines of the logs of hub and gateway: JSON for programs, plain lines for a person at a terminal. */
type Entry = { level: number; time: number; msg?: string; err?: { stack?: string; message?: string } } & Record<
  string,
  unknown
>

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** Where pino writes: `terminal` when it is one, else `other`. */
export function logOutput(
  terminal: { isTTY?: boolean; write(text: string): unknown },
  other: () => { write(text: string): unknown },
): { write(line: string): void } {
  if (terminal.isTTY) return { write: (line) => void terminal.write(plainLine(line)) }
  const output = other()
  return { write: (line) => void output.write(escapeInvisible(line)) }
}

/**
 * Escapes C1 controls, line separators, and characters that are invisible or change the writing direction, which JSON
 * leaves unescaped: in a terminal or a log viewer they could disguise a name. The JSON's value stays the same.
 */
export function escapeInvisible(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The same entry for people; control characters stay escaped as in JSON. */
export function plainLine(json: string): string {
  const { level, time, msg, err, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(json) as Entry
  const details = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const clock = new Date(time).toISOString().slice(11, 19)
  const line = [clock, LEVELS[level] ?? level, JSON.stringify(msg ?? '').slice(1, -1), ...details].join(' ')
  return escapeInvisible(err ? `${line}\n${stackLines(err.stack ?? err.message ?? '')}\n` : `${line}\n`)
}

/** Indented: an error may quote a caller's input, which must not look like an entry. */
function stackLines(stack: string): string {
  return stack
    .split(/\r\n|[\n\r]/)
    .map((line) => `    ${JSON.stringify(line.trim()).slice(1, -1)}`)
    .join('\n')
}
