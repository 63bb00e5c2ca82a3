import { Worker } from 'node:worker_threads'
import type { ParseAnswer, ParseTask } from './parse-worker.ts'

/** Parses texts in a thread of its own, with limits of time and memory. */
export type ParseThread = {
  /** One text after the other. A text that takes too much has an error. */
  parse(task: ParseTask): Promise<ParseAnswer>
  stop(): Promise<void>
}

/** A small board loads the thread in some seconds. */
const TASK_MAX_MS = 20_000
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 }
/** The editor checks while somebody types; without that, the thread would only take memory. */
const IDLE_MS = 15_000

export function createParseThread(): ParseThread {
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let isStopped = false

  function start(): Worker {
    const { NODE_COMPILE_CACHE } = process.env
    const started = new Worker(new URL('./parse-worker.ts', import.meta.url), {
      execArgv: [],
      // The thread gets none of the agent's settings: they come with each task that may know them.
      env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
      resourceLimits: MEMORY,
    })
    started.unref()
    started.on('error', () => {})
    started.once('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }

  async function end(): Promise<void> {
    clearTimeout(idle)
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }

  async function run(task: ParseTask): Promise<ParseAnswer> {
    if (isStopped) return TOO_MUCH
    clearTimeout(idle)
    const thread = (worker ??= start())
    const answer = Promise.withResolvers<ParseAnswer>()
    const tooMuch = () => answer.resolve(TOO_MUCH)
    const late = setTimeout(tooMuch, TASK_MAX_MS)
    thread.once('message', answer.resolve).once('exit', tooMuch)
    thread.postMessage(task)
    const found = await answer.promise
    clearTimeout(late)
    thread.off('message', answer.resolve).off('exit', tooMuch)
    if (found === TOO_MUCH) await end()
    else {
      idle = setTimeout(() => void end(), IDLE_MS)
      idle.unref()
    }
    return found
  }

  return {
    parse(task) {
      const answer = turn.then(() => run(task))
      turn = answer.catch(() => {})
      return answer
    },
    stop() {
      isStopped = true
      return end()
    },
  }
}

const TOO_MUCH: ParseAnswer = {
  text: '',
  parsed: { errors: [{ line: 1, column: 1, message: 'The file takes too long to check, or too much memory.' }] },
  hasSecrets: false,
}
