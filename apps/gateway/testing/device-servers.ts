/**
 * Small servers that answer as the devices' documentation says, and refuse what the devices refuse. Each records its
 * calls: `seconds` is the device's own timer, null when it got none.
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onvifAnswer, onvifElement, onvifFault, onvifFront, type OnvifManner } from './onvif-camera.ts'

export type DeviceServer = {
  address: string
  isOn(): boolean
  seconds(): number | null
  /** Answers every call like this from now on. */
  answerAll(status: number, body: string, headers?: Record<string, string>): void
  /** Accepts calls and answers none. */
  fallSilent(): void
  calls(): number
  stop(): Promise<void>
}

type Reply = { status?: number; headers?: Record<string, string>; body?: string }
type Device = { isOn: boolean; seconds: number | null }
type Answering = (call: { request: IncomingMessage; url: URL; body: string; device: Device }) => Reply

export async function serve(answering: Answering, host = '127.0.0.1'): Promise<DeviceServer> {
  const device: Device = { isOn: false, seconds: null }
  let forced: Reply | 'silence' | undefined
  let calls = 0
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      calls += 1
      if (forced === 'silence') return
      const url = new URL(request.url ?? '/', 'http://device')
      const reply = forced ?? answering({ request, url, body: Buffer.concat(chunks).toString('utf8'), device })
      response.writeHead(reply.status ?? 200, reply.headers)
      response.end(reply.body ?? '')
    })()
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    address: `http://${host}:${(server.address() as AddressInfo).port}`,
    isOn: () => device.isOn,
    seconds: () => device.seconds,
    answerAll: (status, body, headers = {}) => void (forced = { status, body, headers }),
    fallSilent: () => void (forced = 'silence'),
    calls: () => calls,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })
export const hash = (kind: string, text: string) => createHash(kind).update(text).digest('hex')

function turn(device: Device, seconds: number | null): void {
  device.isOn = seconds !== null
  device.seconds = seconds
}

export type ShellyOptions = {
  /** The device has its outputs as a cover: it has no `Switch`. */
  isCover?: boolean
  /** It does not switch on, and says why only in its status. */
  errors?: string[]
  /** The name that its owner gave its output. */
  outputName?: string | null
  host?: string
}

/**
 * Generation 2 with a password: HTTP digest with SHA-256, a new nonce for each call
 * (shelly-api-docs.shelly.cloud/gen2/General/Authentication). `Switch.Set` answers what the output was before
 * (…/gen2/ComponentsAndServices/Switch).
 */
export function startShelly(password: string, options: ShellyOptions = {}): Promise<DeviceServer> {
  const { isCover = false, errors, outputName = null, host } = options
  const realm = 'shellyplus1-a8032abe54dc'
  const nonces = new Set<string>()
  // …/gen2/ComponentsAndServices/Shelly#http-endpoint-shelly: it takes no password.
  const info = { id: realm, mac: 'A8032ABE54DC', model: 'SNSW-001X16EU', gen: 2, ver: '1.4.4', app: 'Plus1' }
  return serve(({ request, url, body, device }) => {
    if (url.pathname === '/shelly') return json({ name: null, ...info, auth_en: true, auth_domain: realm })
    const given = request.headers.authorization ?? ''
    const field = (name: string) => new RegExp(`\\b${name}="?([^",]+)`).exec(given)?.[1] ?? ''
    const first = hash('sha256', `admin:${realm}:${password}`)
    const second = hash('sha256', `POST:${url.pathname}`)
    const parts = [first, field('nonce'), field('nc'), field('cnonce'), field('qop'), second]
    if (!nonces.delete(field('nonce')) || field('response') !== hash('sha256', parts.join(':'))) {
      const nonce = randomBytes(8).toString('hex')
      nonces.add(nonce)
      const challenge = `Digest qop="auth", realm="${realm}", nonce="${nonce}", algorithm=SHA-256`
      return { status: 401, headers: { 'www-authenticate': challenge } }
    }
    const method = url.pathname.slice('/rpc/'.length)
    if (method === 'Shelly.GetConfig') return json({ ble: {}, 'switch:0': { id: 0, name: outputName } })
    if (method === 'Shelly.GetStatus') return json({ ble: {}, 'switch:0': { id: 0, output: device.isOn } })
    const { id, on, toggle_after: after } = JSON.parse(body) as { id: number; on?: boolean; toggle_after?: number }
    if (isCover || !['Switch.Set', 'Switch.GetStatus'].includes(method))
      return json({ code: 404, message: `No handler for ${method}` }, 404)
    if (id !== 0) return json({ code: -105, message: `Argument 'id', value ${id} not found!` }, 500)
    if (method === 'Switch.GetStatus')
      return json({ id, source: 'HTTP_in', output: device.isOn, ...(errors && { errors }) })
    const wasOn = device.isOn
    turn(device, on && !errors ? (after ?? Infinity) : null)
    return json({ was_on: wasOn })
  }, host)
}

export type TasmotaOptions = {
  /** `StateText1` and `StateText2`. */
  words?: readonly [off: string, on: string]
  /** `SetOption26`: the only relay has its number too. */
  hasNumber?: boolean
  host?: string
}

/** tasmota/tasmota_xdrv_driver/xdrv_01_9_webserver.ino, HandleHttpCommand. */
export function startTasmota(
  password: string,
  { words = ['OFF', 'ON'], hasNumber = false, host }: TasmotaOptions = {},
): Promise<DeviceServer> {
  let pulse = 0
  let isWaiting = false
  return serve(({ url, device }) => {
    if (url.pathname !== '/cm') return { status: 404 }
    if (url.searchParams.get('user') !== 'admin' || url.searchParams.get('password') !== password)
      return json({ WARNING: 'Need user=<username>&password=<password>' }, 401)
    const command = url.searchParams.get('cmnd') ?? ''
    const backlog = /^Backlog PulseTime1 (\d+);Power1 1$/.exec(command)
    if (backlog) {
      pulse = Number(backlog[1])
      isWaiting = true
      return json({})
    }
    const power = { [hasNumber ? 'POWER1' : 'POWER']: words[device.isOn ? 1 : 0] }
    if (command === 'Status 0')
      return json({ Status: { FriendlyName: ['Hose'] }, StatusSTS: { UptimeSec: 7, ...power } })
    if (command === 'StateText1') return json({ StateText1: words[0] })
    if (command === 'StateText2') return json({ StateText2: words[1] })
    if (command === 'Power1 0') turn(device, null)
    else if (command !== 'Power1') return json({ Command: 'Unknown' })
    const answer = json({ [hasNumber ? 'POWER1' : 'POWER']: words[device.isOn ? 1 : 0] })
    // Carried out after the answer to the first question.
    if (isWaiting) turn(device, pulse > 111 ? pulse - 100 : pulse / 10)
    isWaiting = false
    return answer
  }, host)
}

export type RachioOptions = {
  /** How many calls the account has left. */
  calls?: number
  /** The zone that a schedule of the owner's waters. */
  scheduled?: string
}

/**
 * rachio.readme.io/reference. `current_schedule` is `{}` while nothing runs, else it has `zoneId`
 * (valiquette/homebridge-rachio-irrigation, rachioplatform.ts:971). `stop_water` stops every zone.
 */
export async function startRachio(
  token: string,
  { calls = Infinity, scheduled }: RachioOptions = {},
): Promise<DeviceServer & { running(): string | undefined }> {
  let left = calls
  let running = scheduled
  const server = await serve(({ request, url, body, device }) => {
    if (request.headers.authorization !== `Bearer ${token}`) return { status: 401 }
    if (left-- <= 0) return { status: 429 }
    if (request.method === 'GET') {
      if (url.pathname === '/1/public/person/info') return json({ id: 'person-1' })
      if (url.pathname === '/1/public/person/person-1') {
        const zones = [{ id: 'zone-1', name: 'Roses', zoneNumber: 1 }]
        return json({ id: 'person-1', devices: [{ id: 'controller-1', name: 'Shed', zones }] })
      }
      if (url.pathname !== '/1/public/device/controller-1/current_schedule') return json({ error: 'not found' }, 404)
      return json(running === undefined ? {} : { deviceId: 'controller-1', status: 'PROCESSING', zoneId: running })
    }
    const { id, duration } = JSON.parse(body) as { id: string; duration?: number }
    if (request.method !== 'PUT') return { status: 405 }
    if (url.pathname === '/1/public/zone/start' && id === 'zone-1') {
      turn(device, duration ?? Infinity)
      running = id
    } else if (url.pathname === '/1/public/device/stop_water' && id === 'controller-1') {
      turn(device, null)
      running = undefined
    } else return json({ error: 'not found' }, 404)
    return { status: 204 }
  })
  return { ...server, running: () => running }
}

/** It refuses to stop a zone that does not run; `statusschedule.php` then has another `time` than 1 for it. */
export function startHydrawise(apiKey: string): Promise<DeviceServer> {
  return serve(({ url, device }) => {
    const query = Object.fromEntries(url.searchParams)
    if (!['/api/v1/setzone.php', '/api/v1/statusschedule.php'].includes(url.pathname)) return { status: 404 }
    if (query['api_key'] !== apiKey) return json({ error_msg: 'unauthorised' })
    if (url.pathname.endsWith('statusschedule.php'))
      return json({
        relays: [{ relay_id: 4711, relay: 1, name: 'Lawn', time: device.isOn ? 1 : 5_400, timestr: 'Now' }],
      })
    if (query['relay_id'] !== '4711') return json({ message: 'Invalid operation requested.', message_type: 'error' })
    if (query['action'] === 'run' && query['period_id'] === '999') turn(device, Number(query['custom']))
    else if (query['action'] === 'stop' && device.isOn) turn(device, null)
    else return json({ message: 'Invalid operation requested.', message_type: 'error' })
    return json({ message: 'Zone set.', message_type: 'info' })
  })
}

/** Its clock is two hours wrong, and it accepts digests for a minute by that clock, unless `manner` says otherwise. */
export function startOnvif(user: string, password: string, manner?: OnvifManner): Promise<DeviceServer> {
  let seconds: number | undefined
  return serve(({ request, url, body, device }) => {
    if (request.method !== 'POST' || url.pathname !== '/onvif/device_service') return { status: 404 }
    const front = onvifFront({ body, authorization: request.headers.authorization }, user, password, manner)
    if (front) return front
    const element = (name: string) => onvifElement(body, name)
    if (body.includes('GetRelayOutputs')) {
      const relay = '<tds:RelayOutputs token="RelayOutput_1"><tt:Properties/></tds:RelayOutputs>'
      return onvifAnswer(`<tds:GetRelayOutputsResponse>${relay}</tds:GetRelayOutputsResponse>`)
    }
    if (element('RelayOutputToken') !== 'RelayOutput_1') return onvifFault('ter:RelayToken', 'Unknown relay token')
    if (body.includes('SetRelayOutputSettings')) {
      if (element('Mode') !== 'Monostable') return onvifFault('ter:ModeError', 'Mode not supported')
      seconds = Number(/^PT(\d+)S$/.exec(element('DelayTime'))?.[1])
      return onvifAnswer('<tds:SetRelayOutputSettingsResponse/>')
    }
    turn(device, element('LogicalState') === 'active' ? (seconds ?? Infinity) : null)
    return onvifAnswer('<tds:SetRelayOutputStateResponse></tds:SetRelayOutputStateResponse>')
  })
}

export type ReolinkOptions = {
  /** Each token is valid for so many calls. */
  callsOfToken?: number
}

/**
 * starkillerOG/reolink_aio, api.py: `SetWhiteLed` changes each value that it gets, and keeps the others (5148 to 5194);
 * a call has succeeded when `rspCode` is 200 (5912).
 */
export async function startReolink(
  password: string,
  { callsOfToken = Infinity }: ReolinkOptions = {},
): Promise<DeviceServer & { light(): { mode: number; bright: number } }> {
  const tokens = new Map<string, number>()
  // The owner lets the light go on by itself at night.
  const light = { mode: 1, bright: 35 }
  const server = await serve(({ url, body, device }) => {
    const cmd = url.searchParams.get('cmd')
    const refuse = (rspCode: number, detail: string) => json([{ cmd, code: 1, error: { rspCode, detail } }])
    const [{ param }] = JSON.parse(body) as [{ param: Record<string, Record<string, unknown>> }]
    if (cmd === 'Login') {
      if (param['User']?.['userName'] !== 'admin' || param['User']['password'] !== password)
        return refuse(-7, 'login failed')
      const name = randomBytes(6).toString('hex')
      tokens.set(name, callsOfToken)
      return json([{ cmd, code: 0, value: { Token: { leaseTime: 3_600, name } } }])
    }
    const token = url.searchParams.get('token') ?? ''
    const left = tokens.get(token) ?? 0
    if (left <= 0) return refuse(-6, 'please login first')
    tokens.set(token, left - 1)
    const values = cmd === 'SetWhiteLed' ? param['WhiteLed']! : (param as Record<string, unknown>)
    if (values['channel'] !== 0) return refuse(-4, 'param error')
    if (cmd === 'AudioAlarmPlay' && values['alarm_mode'] === 'manul')
      turn(device, values['manual_switch'] === 1 ? Infinity : null)
    else if (cmd === 'SetWhiteLed') {
      turn(device, values['state'] === 1 ? Infinity : null)
      for (const name of ['mode', 'bright'] as const) light[name] = (values[name] as number | undefined) ?? light[name]
    } else return refuse(-9, 'not support')
    return json([{ cmd, code: 0, value: { rspCode: 200 } }])
  })
  return { ...server, light: () => light }
}
