import { logOutput } from '@hedgerow/http'
import { pino, type Logger } from 'pino'
import type { Config } from '../config.ts'
import { onceForEachFailure } from './failures-in-log.ts'

/**
 * The hub's log on standard error: JSON lines, or plain lines on a terminal. No caller's input is logged: no headers,
 * no bodies, no query strings. A repeated failure is one entry, and one more when it is over.
 */
export function createLog(level: Config['logLevel']): Logger {
  const options = { level, hooks: onceForEachFailure() }
  return pino(
    options,
    logOutput(process.stderr, () => pino.destination({ dest: 2, sync: true })),
  )
}
