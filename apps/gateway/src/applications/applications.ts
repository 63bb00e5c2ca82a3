/**
 * The device's web applications, each behind an origin of its own in the hub. Only port 8082 of the tunnel leads here:
 * the hub's proxy names the application of each request in a header, and this device decides where that is. An older
 * agent has no such port, so it cannot show its own interface on the origin of an application.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { APPLICATION_HEADER, type Application } from '@hedgerow/contract'
import { createConnectionLimits, createFront, cutConnections, type Faults } from '@hedgerow/http'
import type { Logger } from 'pino'
import { openKnownTls } from '../known-tls.ts'
import { sendText } from '../send-text.ts'
import { frigateInterface } from '../sources/frigate/roles.ts'
import type { FrigateSettings } from '../sources/frigate/schema.ts'
import type { TrustingApplication } from '../trusting-application.ts'
import type { ApplicationsSettings } from './schema.ts'
import { lookupFor } from './reach.ts'
import { listTargets, type Target } from './targets.ts'
import { createUiProxy, type UiProxy } from './ui-proxy.ts'

/** The parts of gateway.yaml that applications need. */
type Parts = { applications: ApplicationsSettings; sources: { frigate?: FrigateSettings | undefined } }

export type Applications = {
  /** What Connect offers beside the device's own interface. */
  list(): Application[]
  /** Where they are. */
  origins(): URL[]
  /** Serves a connection from the tunnel. */
  accept(connection: Duplex): void
  /** Ends every connection at once. */
  stop(): void
}

const HEADERS_TIMEOUT_MS = 10_000
/** All connections come from the hub, which has limits of its own. */
const LIMITS = { perSource: 512, total: 512 }
/** An application that this gateway tells nothing. */
const STRANGER: TrustingApplication = { ownHeaders: [], headersFor: () => ({}) }
const UNKNOWN = 'This device has no application of this name any more.\n'

export function createApplications(options: {
  file(): Parts
  uiTarget: URL | undefined
  /** The port of the device's own interface in the local network. */
  ownPort(): number | undefined
  faults: Faults
  log: Logger
}): Applications {
  const { file, uiTarget, ownPort, faults, log } = options
  let made: { of: Parts; proxies: ReadonlyMap<string, UiProxy> } | undefined

  function proxies(): ReadonlyMap<string, UiProxy> {
    const current = file()
    if (made?.of !== current) made = { of: current, proxies: new Map(targetsOf(current).map(proxyOf)) }
    return made.proxies
  }

  const targetsOf = ({ applications, sources }: Parts) => listTargets(applications, uiTarget, sources.frigate)

  function proxyOf({ name, url: target, certificateFingerprint }: Target): [string, UiProxy] {
    const pinned = certificateFingerprint !== undefined && target.protocol === 'https:'
    const connect = (signal: AbortSignal) =>
      openKnownTls(target, { certificateFingerprint, lookup: lookupFor(target, ownPort), signal })
    const other = pinned ? { ...STRANGER, connect } : undefined
    const trusting = () => frigateInterface(file().sources.frigate, target) ?? other
    return [name, createUiProxy({ target, trusting, ownPort, faults, log })]
  }

  const find = ({ headers }: IncomingMessage) => proxies().get(String(headers[APPLICATION_HEADER]))

  const server = createFront({
    limits: createConnectionLimits({ ...LIMITS, sourceOf: (address) => address }),
    faults,
    handle(request, response) {
      const proxy = find(request)
      if (proxy) proxy.handle(request, response, true)
      else sendText(request, response, 404, 'text/plain', UNKNOWN)
    },
    upgrade: {
      accepts: (request) => find(request) !== undefined,
      handle: (request, socket, head) => find(request)?.handleUpgrade(request, socket, head, true),
    },
    deadlines: { headersMs: HEADERS_TIMEOUT_MS },
  })

  return {
    list: () => targetsOf(file()).map(({ name, title }) => ({ name, title })),
    origins: () => targetsOf(file()).map(({ url }) => url),
    accept: (connection) => void server.emit('connection', connection),
    stop: () => cutConnections(server),
  }
}
