import type { Logger } from 'pino'

type Work = () => unknown

/** Background work of one part of the hub, one at a time. */
export type Tasks = {
  /** Runs `work` after earlier work. Resolves when it has ended; a failure is only logged. */
  run(work: Work): Promise<void>
  /** Runs `work` every `intervalMs`, first after that time. Skips turns while the last one still runs. */
  every(intervalMs: number, work: Work): void
  /** Runs `work` once after `delayMs`, however often it is called until then. */
  soon(delayMs: number, work: Work): void
  /** Ends the timers and waits for running work, then for `last`. Nothing runs afterwards. */
  stop(last?: Work): Promise<void>
}

type Options = {
  log: Pick<Logger, 'warn'>
  /** Its row of docs/memory.md. */
  name: string
  /** Where it runs when several hubs share one database: work on a hub's own memory on each, work on rows on one. */
  on: 'each hub' | 'one hub'
  /** The log message for work that threw. */
  failure: string
}

/** No timer keeps the process alive. */
export function createTasks({ log, failure }: Options): Tasks {
  const intervals: NodeJS.Timeout[] = []
  const delays = new Map<Work, NodeJS.Timeout>()
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  function inTurn(work: Work): Promise<void> {
    running = running.then(async () => void (await work())).catch((err: unknown) => log.warn({ err }, failure))
    return running
  }

  const run = (work: Work) => (isStopped ? running : inTurn(work))

  return {
    run,
    every(intervalMs, work) {
      let isDue = false
      const turn = async () => {
        if (isDue) return
        isDue = true
        await run(work)
        isDue = false
      }
      if (!isStopped) intervals.push(setInterval(() => void turn(), intervalMs).unref())
    },
    soon(delayMs, work) {
      if (isStopped || delays.has(work)) return
      const begin = () => {
        delays.delete(work)
        void run(work)
      }
      delays.set(work, setTimeout(begin, delayMs).unref())
    },
    stop(last) {
      if (isStopped) return running
      isStopped = true
      for (const timer of intervals) clearInterval(timer)
      for (const timer of delays.values()) clearTimeout(timer)
      return last ? inTurn(last) : running
    },
  }
}
