/**
 * How many guesses a password would take, by zxcvbn (Wheeler, USENIX Security 2016). Its dictionaries are slow to load
 * and large, so it runs in a thread that starts with the first password and ends after a minute without one.
 * Tunnels and requests continue meanwhile.
 */
import { Worker } from 'node:worker_threads'

const IDLE_MS = 60_000

export type Question = { password: string; names: readonly string[] }
/** `holds`: the kind of the longest part that a list or a rule finds; undefined when none is found. */
export type Estimate = { guesses: number; holds: 'words' | 'pattern' | undefined }
export type GuessEstimates = (question: Question) => Promise<Estimate>

export function createGuessEstimates({ idleMs = IDLE_MS } = {}): GuessEstimates {
  type Waiting = { resolve: (estimate: Estimate) => void; reject: (error: Error) => void }
  type Thread = { worker: Worker; waiting: Waiting[] }
  let thread: Thread | undefined
  let idle: NodeJS.Timeout | undefined

  function start(): Thread {
    const started: Thread = {
      worker: new Worker(new URL('./guess-worker.ts', import.meta.url), { execArgv: [], env: {} }),
      waiting: [],
    }
    const end = (error: Error) => {
      if (thread === started) thread = undefined
      for (const { reject } of started.waiting.splice(0)) reject(error)
    }
    started.worker
      .on('message', (estimate: Estimate) => {
        started.waiting.shift()?.resolve(estimate)
        if (started.waiting.length === 0) rest(started)
      })
      .on('error', end)
      .on('exit', () => end(new Error('The thread that estimates passwords has ended')))
    return started
  }

  /** An idle thread must not keep the process alive. */
  function rest(resting: Thread): void {
    resting.worker.unref()
    idle = setTimeout(() => {
      if (thread === resting) thread = undefined
      void resting.worker.terminate()
    }, idleMs).unref()
  }

  return (question) =>
    new Promise((resolve, reject) => {
      clearTimeout(idle)
      thread ??= start()
      thread.waiting.push({ resolve, reject })
      thread.worker.ref()
      thread.worker.postMessage(question)
    })
}
