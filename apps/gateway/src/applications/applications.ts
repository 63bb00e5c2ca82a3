/**
 * The device's web applications, each behind an origin of its own in the hub. Only port 8082 of the tunnel leads here:
 * the hub's proxy names the application of each request in a header, and this device knows its address. An older agent
 * has no such port, so it cannot show its own interface on the origin of an application.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { APPLICATION_HEADER, hasRole, type Application } from '@hedgerow/contract'
import { createConnectionLimits, createFront, cutConnections, type Faults } from '@hedgerow/http'
import type { Logger } from 'pino'
import { openKnownTls } from '../known-tls.ts'
import { sendText } from '../kernel/send-text.ts'
import { frigateInterface, isFrigate } from '../sources/frigate/roles.ts'
import type { FrigateSettings } from '../sources/frigate/schema.ts'
import { hubRole, type TrustingApplication } from '../trusting-application.ts'
import type { ApplicationsSettings, HeaderMap } from './schema.ts'
import { lookupFor } from './reach.ts'
import { listTargets, type Target } from './targets.ts'
import { createUiProxy, type UiProxy } from './ui-proxy.ts'

/** The parts of gateway.yaml that applications need. */
type Parts = { applications: ApplicationsSettings; sources: { frigate?: FrigateSettings | undefined } }

export type Applications = {
  /** The applications that Connect offers beside the device's own interface. */
  list(): Application[]
  /** The addresses of all applications. */
  addresses(): Pick<Target, 'name' | 'url'>[]
  /** The headers that tell the application at `url` who asks, if it trusts this gateway. */
  trusting(url: URL): TrustingApplication | undefined
  /** Whether the person whom the hub names may open the application at `url`. */
  isFor(url: URL, request: IncomingMessage): boolean
  /** Serves a connection from the tunnel. */
  accept(connection: Duplex): void
  /** Ends every connection at once. */
  stop(): void
}

const HEADERS_TIMEOUT_MS = 10_000
/** All connections come from the hub, which has limits of its own. */
const LIMITS = { perSource: 512, total: 512 }
/** An application that does not learn who asks. */
const STRANGER: TrustingApplication = { ownHeaders: [], headersFor: () => ({}) }
const UNKNOWN = 'This device has no application of this name any more.\n'
export const ROLE_TOO_LOW = 'Your role in the hub does not open this application of the device.\n'

type Offered = { target: Target; mark: string; proxy: UiProxy }

export function createApplications(options: {
  file: { current(): Parts; onChange(listener: () => void): void }
  uiTarget: URL | undefined
  /** The port of the device's own interface in the local network. */
  ownPort(): number | undefined
  faults: Faults
  log: Logger
}): Applications {
  const { file, uiTarget, ownPort, faults, log } = options
  let of: Parts | undefined
  let offered: ReadonlyMap<string, Offered> = new Map()
  /** The application that each connection showed last. */
  const shown = new Map<Duplex, Offered>()
  file.onChange(follow)

  /** Brings `offered` up to date; ends connections to an application that is gone or has changed. */
  function follow(): void {
    const parts = file.current()
    if (of === parts) return
    of = parts
    const before = offered
    offered = new Map(targetsOf(parts).map((target) => [target.name, keep(before.get(target.name), target, parts)]))
    const current = new Set(offered.values())
    for (const [connection, application] of shown) if (!current.has(application)) connection.destroy()
  }

  function show(connection: Duplex, application: Offered): UiProxy {
    if (!shown.has(connection)) connection.once('close', () => shown.delete(connection))
    shown.set(connection, application)
    return application.proxy
  }

  const targetsOf = ({ applications, sources }: Parts) => listTargets(applications, uiTarget, sources.frigate)

  function keep(lastOffer: Offered | undefined, target: Target, { sources: { frigate } }: Parts): Offered {
    const mark = JSON.stringify([target, frigate && isFrigate(frigate, target.url) ? frigate : null])
    if (lastOffer?.mark === mark) return lastOffer
    const trusting = () => trustingAt(target)
    return {
      target,
      mark,
      proxy: createUiProxy({
        target: target.url,
        trusting,
        ownPort,
        faults,
        log: log.child({ application: target.name }),
      }),
    }
  }

  function trustingAt({ url, headerMap, certificateFingerprint }: Target): TrustingApplication | undefined {
    const frigate = frigateInterface(file.current().sources.frigate, url)
    if (frigate) return frigate
    const visitorHeaders = headerMap && identityHeaders(headerMap)
    if (certificateFingerprint === undefined || url.protocol !== 'https:') return visitorHeaders
    const connect = (signal: AbortSignal) =>
      openKnownTls(url, { certificateFingerprint, lookup: lookupFor(url, ownPort), signal })
    return { ...(visitorHeaders ?? STRANGER), connect }
  }

  function targets(): Target[] {
    follow()
    return [...offered.values()].map(({ target }) => target)
  }

  const targetAt = (url: URL) => targets().find((target) => target.url.origin === url.origin)

  function find({ headers }: IncomingMessage): Offered | undefined {
    follow()
    return offered.get(String(headers[APPLICATION_HEADER]))
  }

  const server = createFront({
    limits: createConnectionLimits({ ...LIMITS, sourceOf: (address) => address }),
    faults,
    handle(request, response) {
      const found = find(request)
      if (!found) return sendText(request, response, 404, 'text/plain', UNKNOWN)
      if (!isFor(found.target, request)) return sendText(request, response, 403, 'text/plain', ROLE_TOO_LOW)
      show(request.socket, found).handle(request, response, true)
    },
    upgrade: {
      accepts(request) {
        const found = find(request)
        return found !== undefined && isFor(found.target, request)
      },
      handle(request, socket, head) {
        const found = find(request)
        if (found) show(socket, found).handleUpgrade(request, socket, head, true)
      },
    },
    deadlines: { headersMs: HEADERS_TIMEOUT_MS },
  })

  return {
    list: () => targets().map(({ name, title, leastRole }) => ({ name, title, leastRole })),
    addresses: targets,
    trusting(url) {
      const target = targetAt(url)
      return target && trustingAt(target)
    },
    isFor(url, request) {
      const target = targetAt(url)
      return target === undefined || isFor(target, request)
    },
    accept: (connection) => void server.emit('connection', connection),
    stop: () => cutConnections(server),
  }
}

function isFor({ leastRole }: Target, { headers }: IncomingMessage): boolean {
  return hasRole(hubRole(headers['x-hub-role']), leastRole)
}

function identityHeaders({ user: userHeader, role: roleHeader, roles, secret }: HeaderMap): TrustingApplication {
  return {
    ownHeaders: [userHeader, roleHeader, secret?.header].filter((name) => name !== undefined),
    headersFor: ({ user, role }) => ({
      [userHeader]: user,
      ...(roleHeader !== undefined && { [roleHeader]: roles[hubRole(role)] }),
      ...(secret && { [secret.header]: secret.value }),
    }),
  }
}
