/**
 * The one place that streams: every answer that is sent while it is made, such as an export, a clip or a download,
 * passes here. It ends within a second of what allowed it: the session, its person's role, and what they may see. A
 * reader who takes less than a modem would is let go. Event streams and gateways' pages never end by themselves, and
 * have checks of their own (events/, gateway-proxy/).
 */
import type { ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { Socket } from 'node:net'
import { pipeline, Transform, type Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import { scopeOf, type Capability, type Scope } from '../access/scope.ts'
import type { Caller, Sessions } from '../access/sessions.ts'
import { createTasks } from '../kernel/tasks.ts'
import { HubError } from '../kernel/hub-error.ts'

/** Another process, such as the command line, may have changed what a person may do. */
const RECHECK_INTERVAL_MS = 500
/** What the system still sends of an answer is forgotten after this time: nobody can say when it has all arrived. */
const SENT_MS = 60_000
const SLOWEST = { bytes: 256 * 1024, withinMs: 60_000 }

/** What an answer needs for as long as it goes on. */
export type Allowance = {
  caller: Caller
  capability: Capability
  /** Whether this person may still see what is sent; throwing a refusal is "no". */
  mayStillSee?: (scope: Scope) => Promise<boolean>
}

export type LongAnswers = {
  /** Returns the stream to send instead. */
  hold(stream: Readable, on: { response: ServerResponse; allowance: Allowance | undefined }): Readable
  /** A request has come: its connection has the whole of the answer before. */
  hasRead(socket: Socket): void
  /** Connections of this server can be reset too. */
  watch(server: TlsServer): void
  stop(): Promise<void>
}

type Running = {
  stream: Transform
  response: ServerResponse
  /** The response forgets it once all is given to the system. */
  socket: Socket | null
  sentAt?: number
  allowance: Allowance | undefined
  passed: number
  /** What had passed when the reader's present time began. */
  since: { passed: number; at: number }
}

/** The slowest reader is an argument for tests. */
export function createLongAnswers(options: {
  sessions: Pick<Sessions, 'find' | 'onEnded'>
  log: Logger
  slowest?: typeof SLOWEST
}): LongAnswers {
  const { sessions, log, slowest = SLOWEST } = options
  const running = new Set<Running>()
  /** The newest answer of a connection that the system has whole. */
  const sent = new WeakMap<Socket, Running>()
  /** The connections below TLS, by their ends: a TLS socket has no reset of its own. */
  const belowTls = new Map<string, Socket>()
  const tasks = createTasks({
    log,
    name: 'long-answers',
    on: 'each hub',
    failure: 'could not check the answers that are being sent',
  })
  tasks.every(RECHECK_INTERVAL_MS, recheck)
  const stopListening = sessions.onEnded((sessionId) => {
    for (const one of running) if (one.allowance?.caller.sessionId === sessionId) end(one)
  })

  async function recheck(): Promise<void> {
    const now = performance.now()
    for (const one of running) {
      if (one.sentAt !== undefined && now - one.sentAt > SENT_MS) running.delete(one)
      else if (one.sentAt === undefined && isTooSlow(one, now)) end(one)
    }
    await Promise.all(
      [...running].map(async (one) => {
        if (one.allowance && !(await isAllowed(one.allowance))) end(one)
      }),
    )
  }

  function isTooSlow(one: Running, now: number): boolean {
    const isWaitingForReader = one.stream.readableLength > 0
    if (isWaitingForReader && now - one.since.at < slowest.withinMs) return false
    const isSlow = isWaitingForReader && one.passed - one.since.passed < slowest.bytes
    one.since = { passed: one.passed, at: now }
    return isSlow
  }

  return {
    hold(stream, { response, allowance }) {
      const counter = new Transform({
        transform(chunk: Buffer | string, _encoding, done) {
          one.passed += chunk.length
          done(null, chunk)
        },
      })
      const one: Running = {
        stream: counter,
        response,
        socket: response.socket,
        allowance,
        passed: 0,
        since: { passed: 0, at: performance.now() },
      }
      running.add(one)
      pipeline(stream, counter, () => {})
      response.once('close', () => {
        const { socket } = one
        // A megabyte may still be in the system's buffers.
        const goesOn = response.writableFinished && allowance !== undefined && socket?.destroyed === false
        if (goesOn && running.has(one)) {
          one.sentAt = performance.now()
          if (!sent.has(socket)) socket.once('close', () => hasRead(socket))
          sent.set(socket, one)
        } else running.delete(one)
      })
      return counter
    },
    hasRead,
    watch(server) {
      server.on('connection', (socket: Socket) => {
        const ends = endsOf(socket)
        belowTls.set(ends, socket)
        socket.once('close', () => belowTls.delete(ends))
      })
    },
    stop() {
      stopListening()
      return tasks.stop()
    },
  }

  function hasRead(socket: Socket): void {
    const one = sent.get(socket)
    if (one) running.delete(one)
  }

  /** A short failure of the storage ends nothing. */
  async function isAllowed({ caller: { sessionId }, capability, mayStillSee }: Allowance): Promise<boolean> {
    try {
      const caller = await sessions.find(sessionId)
      const scope = caller && scopeOf(caller)
      return scope !== undefined && scope.may(capability) && (mayStillSee === undefined || (await mayStillSee(scope)))
    } catch (error) {
      return error instanceof HubError && error.code === 'storage_unavailable'
    }
  }

  function end(one: Running): void {
    running.delete(one)
    const { socket } = one
    // What waits in the system's buffers is not sent either.
    if (socket instanceof TLSSocket) belowTls.get(endsOf(socket))?.resetAndDestroy()
    else if (socket instanceof Socket) socket.resetAndDestroy()
    one.response.destroy()
    one.stream.destroy()
  }
}

function endsOf({ localPort, remoteAddress, remotePort }: Socket): string {
  return `${localPort} ${remoteAddress} ${remotePort}`
}
