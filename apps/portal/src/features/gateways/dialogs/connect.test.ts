import { describe, expect, it } from 'vitest'
import { findWayToGateway, type ConnectStep, type ConnectWorld } from './connect.ts'

const gateway = {
  id: 'abcdefghijkl',
  deviceToken: 'DT-0123456789AB',
  publicIp: '198.51.100.7',
  vpnInternalIp: '10.100.0.2',
}
const online = { status: 'online', statusReason: 'heartbeat 20 s ago', blockedUdp: null } as const
const health = (gatewayId: string | null) => ({ status: 'ok', gatewayId, version: '1', uptimeSeconds: 5 })

/** `answers` maps a host to the answer of its health check; any other host never answers. */
function world(answers: Record<string, unknown>, overrides: Partial<ConnectWorld> = {}) {
  const steps: ConnectStep[] = []
  const asked: string[] = []
  const value: ConnectWorld = {
    validateAccess: () => Promise.resolve({ authorized: true, gatewayId: gateway.id }),
    readGateway: () => Promise.resolve(online),
    fetch: (input) => {
      asked.push(String(input))
      const host = new URL(String(input)).hostname
      return host in answers ? Promise.resolve(Response.json(answers[host])) : Promise.reject(new TypeError('refused'))
    },
    pageProtocol: 'http:',
    directHealthCheck: true,
    application: undefined,
    onStep: (step) => steps.push(step),
    signal: new AbortController().signal,
    ...overrides,
  }
  return { value, steps, asked }
}

describe('the connect flow', () => {
  it('opens the gateway directly when it answers at its public address', async () => {
    const { value, steps, asked } = world({ '198.51.100.7': health(gateway.id) })
    expect(await findWayToGateway(gateway, value)).toEqual({ kind: 'direct', url: 'http://198.51.100.7:8080/' })
    expect(steps).toEqual(['access', 'direct'])
    expect(asked[0]).toBe('http://198.51.100.7:8080/api/health')
  })

  it('tries the VPN address without a public one, then localhost', async () => {
    const { value, asked } = world({ localhost: health(gateway.id) })
    expect(await findWayToGateway({ ...gateway, publicIp: null }, value)).toEqual({
      kind: 'direct',
      url: 'http://localhost:8080/',
    })
    expect(asked).toEqual(['http://10.100.0.2:8080/api/health', 'http://localhost:8080/api/health'])
  })

  it('prefers the gateway’s own address when localhost answers too', async () => {
    const { value } = world({ '198.51.100.7': health(gateway.id), localhost: health(gateway.id) })
    expect(await findWayToGateway(gateway, value)).toMatchObject({ url: 'http://198.51.100.7:8080/' })
  })

  it.each([
    ['another gateway', health('zzzzzzzzzzzz')],
    ['a gateway that no hub has approved', health(null)],
    ['some other program', { hello: 'world' }],
  ])('does not trust %s on localhost, and goes through the hub', async (_, answer) => {
    const { value, steps } = world({ localhost: answer })
    expect(await findWayToGateway(gateway, value)).toEqual({ kind: 'hub', path: '/proxy/gateway/abcdefghijkl' })
    expect(steps).toEqual(['access', 'direct', 'hub'])
  })

  it('calls no plain-HTTP address from an https page', async () => {
    const { value, steps, asked } = world({ localhost: health(gateway.id) }, { pageProtocol: 'https:' })
    expect(await findWayToGateway(gateway, value)).toMatchObject({ kind: 'hub' })
    expect(asked).toEqual([])
    expect(steps).toEqual(['access', 'hub'])
  })

  it('calls no gateway directly when the setting is off', async () => {
    const { value, steps, asked } = world({ localhost: health(gateway.id) }, { directHealthCheck: false })
    expect(await findWayToGateway(gateway, value)).toMatchObject({ kind: 'hub' })
    expect(asked).toEqual([])
    expect(steps).toEqual(['access', 'hub'])
  })

  it('opens an application through the hub only', async () => {
    const { value, steps, asked } = world({ '198.51.100.7': health(gateway.id) }, { application: 'frigate' })
    expect(await findWayToGateway(gateway, value)).toEqual({
      kind: 'hub',
      path: '/proxy/gateway/abcdefghijkl?application=frigate',
    })
    expect(asked).toEqual([])
    expect(steps).toEqual(['access', 'hub'])
  })

  it.each([
    ['the hub says no', { authorized: false, gatewayId: null }],
    ['the token belongs to another gateway', { authorized: true, gatewayId: 'zzzzzzzzzzzz' }],
  ])('stops when %s', async (_, access) => {
    const { value, asked } = world({ localhost: health(gateway.id) }, { validateAccess: () => Promise.resolve(access) })
    expect(await findWayToGateway(gateway, value)).toEqual({ kind: 'not-authorized' })
    expect(asked).toEqual([])
  })

  it('leaves the access check to the ticket when the device has no token', async () => {
    const { value } = world({}, { validateAccess: () => Promise.reject(new Error('must not be asked')) })
    expect(await findWayToGateway({ ...gateway, deviceToken: null }, value)).toMatchObject({ kind: 'hub' })
  })

  it('calls silent addresses at the same time, and gives up on all together', async () => {
    const told: string[] = []
    const silent: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        told.push('asked')
        init?.signal?.addEventListener('abort', () => {
          told.push('given up')
          reject(new Error('aborted'))
        })
      })
    expect(await findWayToGateway(gateway, world({}, { fetch: silent }).value)).toMatchObject({ kind: 'hub' })
    expect(told).toEqual(['asked', 'asked', 'given up', 'given up'])
  })

  it('opens nothing after the person has closed the dialog', async () => {
    const controller = new AbortController()
    const { value } = world(
      {},
      { signal: controller.signal, onStep: (step) => step === 'direct' && controller.abort() },
    )
    await expect(findWayToGateway(gateway, value)).rejects.toThrow('aborted')
  })

  it('says at once that UDP is blocked, but opens a gateway on this network directly', async () => {
    const readGateway = () => Promise.resolve({ ...online, blockedUdp: 'port 51820 of hub.example.org' })
    const away = world({}, { readGateway })
    const target = { kind: 'blocked-udp', port: 'port 51820 of hub.example.org' }
    expect(await findWayToGateway(gateway, away.value)).toEqual(target)
    const near = world({ '198.51.100.7': health(gateway.id) }, { readGateway })
    expect(await findWayToGateway(gateway, near.value)).toMatchObject({ kind: 'direct' })
  })

  it('stops with the reason when the gateway is offline now', async () => {
    const reason = 'no heartbeat for 9 min'
    const { value } = world(
      {},
      { readGateway: () => Promise.resolve({ ...online, status: 'offline', statusReason: reason }) },
    )
    expect(await findWayToGateway(gateway, value)).toEqual({ kind: 'offline', reason })
  })

  it('puts an IPv6 address into brackets', async () => {
    const { value, asked } = world({})
    await findWayToGateway({ ...gateway, publicIp: '2001:db8::7' }, value)
    expect(asked[0]).toBe('http://[2001:db8::7]:8080/api/health')
  })
})
