/**
 * The device's own interface, everything below `/device`: the built pages, their API, and the public device page for
 * everybody else. Through the tunnel the hub names the person; on the device's network people sign in with the device's
 * password. Both get the same pages, which no other origin can read, frame or call.
 */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { DEVICE_API_BASE, DEVICE_UI_BASE } from '@hedgerow/contract'
import { deviceCalls } from '@hedgerow/contract/device-interface'
import type { Logger } from 'pino'
import { createDispatcher } from '../../calls/dispatcher.ts'
import { Refusal } from '../../calls/errors.ts'
import { pathOf } from '../../calls/request.ts'
import { sendText } from '../../kernel/send-text.ts'
import { renderDevicePage } from './device-page.ts'
import { openUiFiles, PAGE } from './files.ts'
import { createHandlers, type HandlersOptions, type UiCaller } from './handlers.ts'
import { policy } from './policy.ts'
import { isOfThisOrigin } from './same-origin.ts'
import { PASSWORD_VISITOR, visitorFromHub } from './visitor.ts'

export type DeviceUi = {
  owns(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse, entrance: Entrance): void
}

export type Entrance = {
  /** The connection comes from the hub, which has checked the visitor's access. */
  isTunnel: boolean
  /**
   * Another application has the same origin, so its scripts could do everything that the visitor may. Only the public
   * page is served.
   */
  isShared: boolean
}

export type DeviceUiOptions = HandlersOptions & {
  /** The folder of the built pages. */
  folder: string
  log: Logger
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The component library places its menus and dialogs with style attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The screens of the interface by the first part of their path; the page itself routes them. */
const SCREENS = new Set([
  '',
  'sign-in',
  'detections',
  'cameras',
  'add-camera',
  'deterrents',
  'add-deterrent',
  'rules',
  'learning',
  'configuration',
])

export function createDeviceUi(options: DeviceUiOptions): DeviceUi {
  const { sessions, state, log } = options
  const files = openUiFiles(options.folder)
  const isBuilt = files.has(PAGE)
  const handlers = createHandlers(options)

  async function visitorOf(request: IncomingMessage, isTunnel: boolean): Promise<UiCaller> {
    if (isTunnel) return visitorFromHub(request)
    return (await sessions.isSignedIn(request)) ? PASSWORD_VISITOR : undefined
  }

  const [localCalls, tunnelCalls] = [false, true].map((isTunnel) =>
    createDispatcher({
      base: DEVICE_API_BASE,
      calls: deviceCalls,
      handlers,
      async authorise(request, name) {
        if (!isOfThisOrigin(request)) throw new Refusal('cross_site')
        const access = policy[name]
        const visitor = await visitorOf(request, isTunnel)
        if (access !== 'anybody' && !visitor) throw new Refusal('not_signed_in')
        if (access === 'managers' && visitor?.mayManage !== true) throw new Refusal('role_required')
        return visitor
      },
      log,
    }),
  )

  const publicFiles: Record<string, () => Promise<{ type: string; body: string }>> = {
    'device.css': async () => ({ type: 'text/css', body: await readAsset('device.css') }),
    'device.js': async () => ({ type: 'text/javascript', body: await readAsset('device.js') }),
    'qr.svg': async () => ({ type: 'image/svg+xml', body: await drawCode(state().claimUrl) }),
    'api/state': async () => ({ type: 'application/json', body: JSON.stringify(state()) }),
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    { isTunnel, isShared }: Entrance,
  ): Promise<void> {
    const isOpen = isBuilt && !isShared
    const path = pathOf(request).slice(DEVICE_UI_BASE.length + 1)
    const make = Object.hasOwn(publicFiles, path) ? publicFiles[path] : undefined
    if (make) {
      const { type, body } = await make()
      return sendText(request, response, 200, type, body)
    }
    if (path === '' && !(isOpen && (await visitorOf(request, isTunnel))))
      return sendText(request, response, 200, 'text/html', renderDevicePage(state(), isOpen ? SIGN_IN : undefined))
    if (isOpen && SCREENS.has(path.split('/', 1)[0]!)) return files.send(request, response, PAGE)
    if (isOpen && files.has(path)) return files.send(request, response, path)
    sendText(request, response, 404, 'text/plain', 'There is nothing at this address.\n')
  }

  return {
    owns: (path) => path === DEVICE_UI_BASE || path.startsWith(`${DEVICE_UI_BASE}/`),
    handle(request, response, entrance) {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
      const path = pathOf(request)
      const calls = entrance.isTunnel ? tunnelCalls! : localCalls!
      if (!entrance.isShared && path.startsWith(`${DEVICE_API_BASE}/v1/`)) return void calls.handle(request, response)
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD')
        return sendText(request, response, 405, 'text/plain', 'This address does not accept that method.\n')
      }
      if (path === DEVICE_UI_BASE) {
        response.writeHead(302, { location: `${DEVICE_UI_BASE}/`, 'content-length': 0 }).end()
        return
      }
      answer(request, response, entrance).catch((error: unknown) => {
        log.error({ err: error }, 'a page of the device failed')
        if (response.headersSent) response.destroy()
        else sendText(request, response, 500, 'text/plain', FAILED)
      })
    },
  }
}

const SIGN_IN = `${DEVICE_UI_BASE}/sign-in`
const FAILED = "Something went wrong on the device. The agent's log has the details.\n"

function readAsset(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8')
}

/** Dark on light in both colour schemes: cameras read no other code reliably. */
async function drawCode(text: string | null): Promise<string> {
  if (text === null) return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
  const { toString } = await import('qrcode')
  return toString(text, { type: 'svg', margin: 2, color: { dark: '#14201c', light: '#ffffff' } })
}
