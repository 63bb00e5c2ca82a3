import type { LogFn, LoggerOptions } from 'pino'

const LOOK_INTERVAL_MS = 5_000
/** After this long without the same failure, it counts as over: repeated failures come every few seconds. */
const OVER_AFTER_MS = 15_000
/** How many kinds are remembered; others are logged each time. */
const KINDS_MAX = 200

type Failure = { startedAt: number; lastAt: number; count: number; over: () => void }

/**
 * Keeps a repeated failure from filling the log: its first time is one entry, all others are counted, and one more
 * entry says when it was over, how long it lasted and how often it came. All failures of the database are one kind,
 * wherever noticed, without a stack; any other is identified by its message and its error's message. Used as pino's
 * `hooks`, so that no caller has to think of it. It affects only entries with an error or an error's code.
 */
export function onceForEachFailure(clock: () => number = Date.now): NonNullable<LoggerOptions['hooks']> {
  const failures = new Map<string, Failure>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const now = clock()
    for (const [kind, failure] of failures) {
      if (now - failure.lastAt < OVER_AFTER_MS && now >= failure.lastAt) continue
      failures.delete(kind)
      failure.over()
    }
    if (failures.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  /** Whether it came before and is not over. */
  function isKnown(kind: string): boolean {
    const failure = failures.get(kind)
    if (!failure) return false
    failure.count++
    failure.lastAt = clock()
    return true
  }

  function remember(kind: string, over: (summary: { seconds: number; failures: number }) => void): void {
    if (failures.size >= KINDS_MAX) return
    const at = clock()
    const failure: Failure = {
      startedAt: at,
      lastAt: at,
      count: 1,
      over: () => over({ seconds: Math.round((failure.lastAt - failure.startedAt) / 1_000), failures: failure.count }),
    }
    failures.set(kind, failure)
    timer ??= setInterval(look, LOOK_INTERVAL_MS).unref()
  }

  return {
    logMethod(args, method) {
      const [entry, message] = args as unknown as [unknown, string | undefined]
      const log: LogFn = method.bind(this)
      if (!isOfFailure(entry)) return log(...args)
      const cause = storageCause(entry)
      if (cause !== undefined) {
        if (isKnown('storage')) return undefined
        remember('storage', (summary) => this.info(summary, 'the database works again'))
        return log({ code: 'storage_unavailable', reason: cause }, 'the database does not work')
      }
      const kind = `${message} ${entry.err instanceof Error ? entry.err.message : String(entry.err)}`
      if (isKnown(kind)) return undefined
      // A failure that occurred once needs no closing line.
      remember(kind, (summary) => summary.failures > 1 && this.info(summary, `over: ${message}`))
      return log(...args)
    },
  }
}

type OfFailure = { err?: unknown; code?: unknown }

function isOfFailure(entry: unknown): entry is OfFailure {
  return typeof entry === 'object' && entry !== null && 'err' in entry
}

/** The message of the database or the network, when the storage caused the failure. */
function storageCause({ err, code }: OfFailure): string | undefined {
  const isStorage = code === 'storage_unavailable' || (err as OfFailure | undefined)?.code === 'storage_unavailable'
  if (!isStorage) return undefined
  const cause = err instanceof Error && code !== 'storage_unavailable' ? (err.cause ?? err) : err
  const { message, code: named } = (cause ?? {}) as { message?: string; code?: unknown }
  return message || String(named ?? 'unknown')
}
