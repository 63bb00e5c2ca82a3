import { pino, type Logger } from 'pino'
import type { Config } from '../config.ts'

/**
 * The hub's log on standard error: JSON lines, or one plain line each where a person is watching. Nothing that callers
 * send is logged: no headers, no bodies, no query strings.
 */
export function createLog(level: Config['logLevel']): Logger {
  return process.stderr.isTTY
    ? pino({ level }, { write: (line) => void process.stderr.write(plainLine(line)) })
    : pino({ level }, pino.destination({ dest: 2, sync: true }))
}

type Entry = { level: number; time: number; msg?: string; err?: { stack?: string; message?: string } } & Record<
  string,
  unknown
>

/** The same entry as a person reads it; control characters stay escaped, as JSON has them. */
export function plainLine(json: string): string {
  const { level, time, msg, err, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(json) as Entry
  const details = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const clock = new Date(time).toISOString().slice(11, 19)
  const line = [clock, pino.levels.labels[level] ?? level, JSON.stringify(msg ?? '').slice(1, -1), ...details].join(' ')
  return err ? `${line}\n${stackLines(err.stack ?? err.message ?? '')}\n` : `${line}\n`
}

/** Indented, since an error may quote what somebody sent, and that must not look like an entry. */
function stackLines(stack: string): string {
  return stack
    .split(/\r\n|[\n\r]/)
    .map((line) => `    ${JSON.stringify(line.trim()).slice(1, -1)}`)
    .join('\n')
}
