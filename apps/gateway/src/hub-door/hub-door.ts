/**
 * The hub's own door to this device: HTTP on port 8081 of the tunnel, for pictures and commands. It has no
 * socket in the local network, and only the hub is inside the tunnel, so the tunnel authenticates the caller.
 */
import type { Duplex } from 'node:stream'
import { doorCalls } from '@hedgerow/contract'
import { createConnectionLimits, createFront, cutConnections, type Faults } from '@hedgerow/http'
import type { Logger } from 'pino'
import { createDispatcher } from '../calls/dispatcher.ts'
import { createPictureParts, picture } from '../calls/parts.ts'
import type { DetectionRecord } from '../detections/record.ts'
import type { Learning } from '../learning/learning.ts'
import type { Pictures } from '../sources/source.ts'
import { createCommands, type CommandedDeterrents, type CommandedLearning } from './commands.ts'

export type HubDoorOptions = {
  deterrents: CommandedDeterrents
  learning: CommandedLearning & Pick<Learning, 'report'> & { names: Pick<Learning['names'], 'give'> }
  pictures: Pictures
  /** The device's own record; its picture is the one that a detection came with. */
  record: Pick<DetectionRecord, 'find' | 'picture'>
  faults: Faults
  log: Logger
  /** Milliseconds of a clock that never jumps. */
  monotonic?: () => number
}

export type HubDoor = {
  /** Serves a connection from the tunnel. */
  accept(connection: Duplex): void
  /** Ends every connection at once. */
  stop(): void
}

const CONNECTIONS_MAX = 64
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000

export function createHubDoor(options: HubDoorOptions): HubDoor {
  const { pictures, learning, record, log } = options
  const commands = createCommands(options)
  const parts = createPictureParts(options)

  const { handle } = createDispatcher({
    base: '',
    calls: doorCalls,
    authorise() {},
    filesWithoutLimit: true,
    handlers: {
      giveTicket: () => ({ ticket: commands.issueTicket() }),
      async carryOut({ body: command }) {
        const outcome = await commands.carryOut(command)
        log.info({ action: command.action, deterrent: command.deterrent, by: command.by, outcome }, 'a command')
        return outcome
      },
      readLearning: () => learning.report(),
      readNames: () => ({ head: learning.names.give() ?? null }),
      readLatest: ({ params: { name }, query: { height }, signal }) => parts.latest(name, { height, signal }),
      readSnapshot({ params: { id }, query: { boxed }, signal }) {
        const pending = pictures.snapshot(parts.detectionOf(id), { boxed: boxed === 'true', signal })
        const orNone = pending.catch((error: unknown) => {
          log.info({ err: error, detection: id }, 'no snapshot: the thumbnail is sent instead')
          return undefined
        })
        return picture(orNone.then((jpeg) => jpeg ?? record.picture(id)))
      },
      readClip: ({ params: { id }, ...wanted }) => parts.clip(id, wanted),
    },
    log,
  })

  const server = createFront({
    limits: createConnectionLimits({ perSource: CONNECTIONS_MAX, total: CONNECTIONS_MAX, sourceOf: (from) => from }),
    faults: options.faults,
    handle: (request, response) => void handle(request, response),
    deadlines: { headersMs: HEADERS_TIMEOUT_MS, requestMs: REQUEST_TIMEOUT_MS },
  })
  return {
    accept: (connection) => void server.emit('connection', connection),
    stop: () => cutConnections(server),
  }
}
