/**
 * The device's HTTP API for its owner's programs: they report detections and state, read what the device sees, and
 * switch deterrents. It answers on the device's network only, never through the tunnel, and refuses browsers.
 */
import { createBuckets, type Rate } from '@hedgerow/http'
import { LOCAL_API_BASE, localCalls } from '@hedgerow/contract/local-api'
import type { Logger } from 'pino'
import { sendJson } from '../../calls/answer.ts'
import { createDispatcher, type Dispatcher } from '../../calls/dispatcher.ts'
import { Refusal } from '../../calls/errors.ts'
import { pathOf } from '../../calls/request.ts'
import type { DeviceFile } from '../../device-file/schema.ts'
import { authorise } from './authorise.ts'
import { createHandlers, type HandlersOptions } from './handlers.ts'
import { openApiDocument } from './openapi.ts'

export type LocalApiOptions = HandlersOptions & {
  file(): DeviceFile
  /** The token of this device's commands (agent-file.ts). */
  agentToken: string
  log: Logger
}

export type LocalApi = Dispatcher

/** Twice the calls of ten cameras with five detections a second each, sent one by one. Stops runaway loops. */
const RATE: Rate = { burst: 200, perSecond: 100 }
/** All programs share one bucket. */
const PROGRAMS = [{ key: 'programs', share: 1 }]

export function createLocalApi(options: LocalApiOptions): LocalApi {
  const buckets = createBuckets(RATE, PROGRAMS.length)
  const { owns, handle } = createDispatcher({
    base: LOCAL_API_BASE,
    calls: localCalls,
    handlers: createHandlers(options),
    authorise(request, name) {
      // Programs of the device have no say about its version, and no use for the hub's downloads.
      authorise(request, options.file(), options.agentToken, name === 'goBack' || name === 'readModel')
      if (buckets.waitMs(PROGRAMS, performance.now()) > 0) throw new Refusal('too_many_requests')
      buckets.add(PROGRAMS, -1)
    },
    log: options.log,
  })
  return {
    owns,
    async handle(request, response) {
      if (request.method === 'GET' && pathOf(request) === `${LOCAL_API_BASE}/v1/openapi.json`)
        sendJson(response, 200, openApiDocument(options.version))
      else await handle(request, response)
    },
  }
}
