import { readFile } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { GatewayHealth } from '@hedgerow/contract'
import type { Faults, FrontOptions } from '@hedgerow/http'
import type { Logger } from 'pino'
import QRCode from 'qrcode'
import type { GatewayState } from '../gateway-state.ts'
import type { LocalApi } from '../local-api/local-api.ts'
import { pathOf } from '../local-api/request.ts'
import type { TrustingApplication } from '../trusting-application.ts'
import { isLocalName } from './local-name.ts'
import { renderDevicePage } from './device-page.ts'
import { createUiProxy } from './ui-proxy.ts'

/**
 * The device's HTTP interface, on its own network and through the tunnel: health, device page, local API (on its own
 * network only), and the device's own application when there is one; the device page then moves to `/device`. The
 * application may trust every caller on loopback, so it answers through the tunnel only, unless `uiOnLan` is set. The
 * page shows the device token, so pages of other origins can neither read nor frame it. Everything but the health
 * requires a local `Host` name, against DNS rebinding.
 */
export type LocalUi = {
  /** `isTunnel`: the connection comes from the hub, which has checked the visitor's access. */
  handler(isTunnel: boolean): RequestListener
  /** Handles requests with `Upgrade`. */
  upgrade(isTunnel: boolean): NonNullable<FrontOptions['upgrade']>
}

export type LocalUiOptions = {
  state(): GatewayState
  health(): GatewayHealth
  /** The origins whose pages may read `/api/health`. */
  allowedOrigins(): string[]
  uiTarget: URL | undefined
  /** How the application behind `uiTarget` is told who asks, where it believes this gateway. */
  trusting?: () => TrustingApplication | undefined
  /** Whether the application also answers on the device's own network. */
  uiOnLan: boolean
  localApi: LocalApi
  faults: Faults
  log: Logger
}

const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const STRANGE_NAME = 'Open this page by the address of the device or by its name in the local network.\n'

const ONLY_THROUGH_THE_HUB =
  "The device's own application answers through the hub only. The device page is at /device\n"

export function createLocalUi(options: LocalUiOptions): LocalUi {
  const { uiTarget: target, trusting, faults, log } = options
  const base = target ? '/device' : ''
  const proxy = target ? createUiProxy({ target, trusting, faults, log }) : undefined

  const pages: Record<string, () => Promise<{ type: string; body: string }>> = {
    [`${base}/`]: page,
    [`${base}/device.css`]: async () => ({ type: 'text/css', body: await readAsset('device.css') }),
    [`${base}/device.js`]: async () => ({ type: 'text/javascript', body: await readAsset('device.js') }),
    [`${base}/qr.svg`]: async () => ({ type: 'image/svg+xml', body: await drawCode(options.state().claimUrl) }),
    [`${base}/api/state`]: async () => ({ type: 'application/json', body: JSON.stringify(options.state()) }),
  }
  if (base !== '') pages[base] = page

  async function page() {
    return { type: 'text/html', body: renderDevicePage(options.state(), base) }
  }

  const proxyFor = (isTunnel: boolean) => (isTunnel || options.uiOnLan ? proxy : undefined)

  function answerHealth(request: IncomingMessage, response: ServerResponse, isTunnel: boolean): void {
    const { origin } = request.headers
    // The portal opens a gateway directly when it can read its health, but the application may answer through the
    // tunnel only.
    const isWhole = proxy === undefined || proxyFor(isTunnel) !== undefined
    response.setHeader('vary', 'Origin')
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    if (isWhole && origin !== undefined && options.allowedOrigins().includes(origin))
      response.setHeader('access-control-allow-origin', origin)
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-methods', 'GET')
      response.writeHead(204).end()
    } else send(request, response, 200, 'application/json', JSON.stringify(options.health()))
  }

  async function answerPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value)
    const make = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (!make) return send(request, response, 404, 'text/plain', 'There is nothing at this address.\n')
    try {
      const { type, body } = await make()
      send(request, response, 200, type, body)
    } catch (error) {
      options.log.error({ err: error }, 'the device page failed')
      send(
        request,
        response,
        500,
        'text/plain',
        "Something went wrong on the device. The agent's log has the details.\n",
      )
    }
  }

  function isOwn(path: string): boolean {
    return path === '/api/health' || path === base || path.startsWith(`${base}/`)
  }

  function handle(request: IncomingMessage, response: ServerResponse, isTunnel: boolean): void {
    const path = pathOf(request)
    const application = proxyFor(isTunnel)
    if (path === '/api/health') {
      if (allowMethods(request, response, ['GET', 'HEAD', 'OPTIONS'])) answerHealth(request, response, isTunnel)
    } else if (!isTunnel && !isLocalName(request.headers.host)) send(request, response, 421, 'text/plain', STRANGE_NAME)
    else if (!isTunnel && options.localApi.owns(path)) void options.localApi.handle(request, response)
    else if (isOwn(path)) {
      if (allowMethods(request, response, ['GET', 'HEAD'])) void answerPage(request, response, path)
    } else if (application) application.handle(request, response, isTunnel)
    else if (path === '/') response.writeHead(302, { location: base, 'content-length': 0 }).end()
    else send(request, response, 404, 'text/plain', ONLY_THROUGH_THE_HUB)
  }

  function mayUpgrade(request: IncomingMessage, isTunnel: boolean): boolean {
    const isReachable = proxyFor(isTunnel) !== undefined && !isOwn(pathOf(request))
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

function allowMethods(request: IncomingMessage, response: ServerResponse, methods: string[]): boolean {
  if (methods.includes(request.method ?? '')) return true
  response.setHeader('allow', methods.join(', '))
  send(request, response, 405, 'text/plain', 'This address does not accept that method.\n')
  return false
}

function send(request: IncomingMessage, response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function readAsset(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8')
}

/** Dark on light in both colour schemes: cameras read nothing else reliably. */
async function drawCode(text: string | null): Promise<string> {
  if (text === null) return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
  return QRCode.toString(text, { type: 'svg', margin: 2, color: { dark: '#14201c', light: '#ffffff' } })
}
