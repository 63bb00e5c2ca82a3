/**
 * The last guard: an error while one connection is served ends that connection and not the process.
 * `docs/decisions/009-one-connection-cannot-end-the-process.md` says which errors count as a connection's.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Duplex } from 'node:stream'
import { onceAMinute } from './once-a-minute.ts'

/** How long after its close a connection may still cause an error: the longest duration of one of its calls. */
const BLAMED_AFTER_CLOSE_MS = 120_000

type Served = { socket: Duplex; closedAt: number | undefined }
/** `enter` runs a function for it: entering a context that exists costs less than making one each time. */
type OpenConnection = { served: Served; enter: ReturnType<typeof AsyncLocalStorage.snapshot> }

/** Errors that mean that the runtime itself is broken. */
const OF_THE_RUNTIME = new Set(['ERR_INTERNAL_ASSERTION', 'ERR_MEMORY_ALLOCATION_FAILED', 'ERR_WORKER_OUT_OF_MEMORY'])

const serving = new AsyncLocalStorage<Served>()

export type Faults = {
  /** Runs `task` for a connection: an error of it, or of what it starts, ends that connection. */
  contain(socket: Duplex, task: () => unknown): void
  /**
   * Handles uncaught errors that belong to a connection, so that the process continues. Returns the function that stops
   * this.
   */
  guardProcess(): () => void
}

export type FaultOptions = {
  onFault?: () => void
  /** Called at most once a minute, with the first error since the last call and the number of errors. */
  report: (error: unknown, count: number) => void
}

export function createFaults({ onFault, report }: FaultOptions): Faults {
  const note = onceAMinute(report)
  const allServed = new WeakMap<Duplex, OpenConnection>()

  function servedBy(socket: Duplex): OpenConnection {
    const before = allServed.get(socket)
    if (before) return before
    const served: Served = { socket, closedAt: undefined }
    const connection = { served, enter: serving.run(served, () => AsyncLocalStorage.snapshot()) }
    allServed.set(socket, connection)
    socket.once('close', () => {
      served.closedAt = performance.now()
    })
    return connection
  }

  function end({ socket }: Served, error: unknown): void {
    onFault?.()
    note(error)
    socket.destroy()
  }

  function attempt(served: Served, task: () => unknown): void {
    try {
      const done = task()
      if (done instanceof Promise) done.catch((error: unknown) => end(served, error))
    } catch (error) {
      end(served, error)
    }
  }

  return {
    contain(socket, task) {
      const { served, enter } = servedBy(socket)
      // Mostly called by what it already runs.
      if (serving.getStore() === served) attempt(served, task)
      else enter(attempt, served, task)
    },

    guardProcess() {
      const onError = (error: Error): void => {
        const served = serving.getStore()
        if (served && isBlamed(served) && !isOfTheRuntime(error)) end(served, error)
        else endProcess(error)
      }
      process.on('uncaughtException', onError)
      return () => void process.off('uncaughtException', onError)
    },
  }
}

function isBlamed({ closedAt }: Served): boolean {
  return closedAt === undefined || performance.now() - closedAt < BLAMED_AFTER_CLOSE_MS
}

function isOfTheRuntime(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OF_THE_RUNTIME.has(String(error.code))
}

/**
 * The same as Node without a listener: the error on standard error, exit code 1. Exit code 7 would mean that a listener
 * threw.
 */
function endProcess(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(1)
}
