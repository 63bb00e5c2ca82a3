import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { GatewayHealth } from '@hedgerow/contract'
import { APPLICATION_HEADER, DEVICE_INTERFACE, DEVICE_UI_BASE } from '@hedgerow/contract'
import type { Faults, FrontOptions } from '@hedgerow/http'
import type { Logger } from 'pino'
import { ROLE_TOO_LOW, type Applications } from '../applications/applications.ts'
import { createUiProxy, type UiProxy } from '../applications/ui-proxy.ts'
import { pathOf } from '../calls/request.ts'
import type { DeviceUi } from './device-ui/device-ui.ts'
import type { LocalApi } from './api/local-api.ts'
import { sendText } from '../kernel/send-text.ts'
import { isLocalName } from './local-name.ts'

/**
 * The device's HTTP interface, on its own network and through the tunnel: health, the device's own pages, local API (on
 * its own network only), and, for hubs that do not support applications, the application of `GATEWAY_UI_TARGET`. That
 * application may trust every caller on loopback, so it answers through the tunnel only, unless `uiOnLan` is set.
 * Everything but the health requires a local `Host` name, against DNS rebinding.
 */
export type LocalUi = {
  /** `isTunnel`: the connection comes from the hub, which has checked the visitor's access. */
  handler(isTunnel: boolean): RequestListener
  /** Handles requests with `Upgrade`. */
  upgrade(isTunnel: boolean): NonNullable<FrontOptions['upgrade']>
}

export type LocalUiOptions = {
  health(): GatewayHealth
  /** The origins whose pages may read `/api/health`. */
  allowedOrigins(): string[]
  uiTarget: URL | undefined
  /** The port of this interface in the local network. */
  ownPort(): number | undefined
  /** The headers for the application behind `uiTarget`, and who may open it. */
  applications: Pick<Applications, 'trusting' | 'isFor'>
  /** Whether the application also answers on the device's own network. */
  uiOnLan: boolean
  localApi: LocalApi
  deviceUi: DeviceUi
  faults: Faults
  log: Logger
}

const STRANGE_NAME = 'Open this page by the address of the device or by its name in the local network.\n'

const HEALTH_METHODS = ['GET', 'HEAD', 'OPTIONS']
const NOTHING = 'There is nothing at this address.\n'
const ONLY_THROUGH_THE_HUB =
  "The device's own application answers through the hub only. The device page is at /device\n"

export function createLocalUi(options: LocalUiOptions): LocalUi {
  const { uiTarget: target, applications, ownPort, faults, log } = options
  const trusting = () => target && applications.trusting(target)
  const proxy = target ? createUiProxy({ target, trusting, ownPort, faults, log }) : undefined

  /** An older hub has one origin for each gateway, and does not name an application. */
  function proxyFor({ headers }: IncomingMessage, isTunnel: boolean): UiProxy | undefined {
    const isShown = isTunnel ? headers[APPLICATION_HEADER] !== DEVICE_INTERFACE : options.uiOnLan
    return isShown ? proxy : undefined
  }

  /** An older hub does not ask for a role. */
  const isRefused = (request: IncomingMessage, isTunnel: boolean) =>
    isTunnel && target !== undefined && !applications.isFor(target, request)

  function answerHealth(request: IncomingMessage, response: ServerResponse): void {
    const { origin } = request.headers
    // The portal opens a gateway directly when it can read its health. Through the hub, the application and the
    // device's own interface have origins of their own.
    const isWhole = proxy === undefined
    response.setHeader('vary', 'Origin')
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    if (isWhole && origin !== undefined && options.allowedOrigins().includes(origin))
      response.setHeader('access-control-allow-origin', origin)
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-methods', 'GET')
      response.writeHead(204).end()
    } else sendText(request, response, 200, 'application/json', JSON.stringify(options.health()))
  }

  function handle(request: IncomingMessage, response: ServerResponse, isTunnel: boolean): void {
    const path = pathOf(request)
    const application = proxyFor(request, isTunnel)
    if (path === '/api/health') {
      if (HEALTH_METHODS.includes(request.method ?? '')) return answerHealth(request, response)
      response.setHeader('allow', HEALTH_METHODS.join(', '))
      sendText(request, response, 405, 'text/plain', 'This address does not accept that method.\n')
    } else if (!isTunnel && !isLocalName(request.headers.host))
      sendText(request, response, 421, 'text/plain', STRANGE_NAME)
    else if (!isTunnel && options.localApi.owns(path)) void options.localApi.handle(request, response)
    else if (options.deviceUi.owns(path))
      options.deviceUi.handle(request, response, { isTunnel, isShared: application !== undefined })
    else if (application && isRefused(request, isTunnel)) sendText(request, response, 403, 'text/plain', ROLE_TOO_LOW)
    else if (application) application.handle(request, response, isTunnel)
    else if (path === '/') response.writeHead(302, { location: `${DEVICE_UI_BASE}/`, 'content-length': 0 }).end()
    else sendText(request, response, 404, 'text/plain', proxy ? ONLY_THROUGH_THE_HUB : NOTHING)
  }

  function mayUpgrade(request: IncomingMessage, isTunnel: boolean): boolean {
    const isReachable =
      proxyFor(request, isTunnel) !== undefined &&
      pathOf(request) !== '/api/health' &&
      !options.deviceUi.owns(pathOf(request)) &&
      !isRefused(request, isTunnel)
    return isReachable && (isTunnel || isLocalName(request.headers.host))
  }

  return {
    handler: (isTunnel) => (request, response) => handle(request, response, isTunnel),
    upgrade: (isTunnel) => ({
      accepts: (request) => mayUpgrade(request, isTunnel),
      handle: (request, socket, head) => proxy?.handleUpgrade(request, socket, head, isTunnel),
    }),
  }
}
