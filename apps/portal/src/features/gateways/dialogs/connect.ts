/**
 * The connect flow without its page: check the access, try the gateway's own port 8080, then use the hub's proxy. Any
 * program may listen on localhost, so only an answer with this gateway's id counts. Applications answer through the
 * hub's proxy only.
 */
import { GATEWAY_PORT, gatewayHealth, type Gateway } from '@hedgerow/contract'

const DIRECT_CHECK_MS = 2_000

export type ConnectStep = 'access' | 'direct' | 'hub'
type Target =
  | { kind: 'direct'; url: string }
  | { kind: 'hub'; path: string }
  | { kind: 'not-authorized' }
  | { kind: 'blocked-udp'; port: string }
  | { kind: 'offline'; reason: string }

export type ConnectWorld = {
  /** Rejects with the hub's refusal. */
  validateAccess: (
    deviceToken: string,
    signal: AbortSignal,
  ) => Promise<{ authorized: boolean; gatewayId: string | null }>
  /** The gateway's present state: the list may be half a minute old. Rejects with the hub's refusal. */
  readGateway: (signal: AbortSignal) => Promise<Pick<Gateway, 'status' | 'statusReason' | 'blockedUdp'>>
  fetch: typeof fetch
  /** `location.protocol`: an https page may not call a plain-HTTP address. */
  pageProtocol: string
  /** The hub's setting. When off, only the hub's proxy is used. */
  directHealthCheck: boolean
  /** The name of an application; undefined for the gateway's own interface. */
  application: string | undefined
  onStep: (step: ConnectStep) => void
  signal: AbortSignal
}

export async function findWayToGateway(
  gateway: Pick<Gateway, 'id' | 'deviceToken' | 'publicIp' | 'vpnInternalIp'>,
  world: ConnectWorld,
): Promise<Target> {
  world.onStep('access')
  // A device without the agent has no token. The hub then checks access when it issues the ticket.
  if (gateway.deviceToken !== null) {
    const access = await world.validateAccess(gateway.deviceToken, world.signal)
    if (!access.authorized || access.gatewayId !== gateway.id) return { kind: 'not-authorized' }
  }
  const { application } = world
  if (application === undefined && world.directHealthCheck && world.pageProtocol !== 'https:') {
    world.onStep('direct')
    const origin = await directOrigin(gateway, world)
    if (origin !== undefined) return { kind: 'direct', url: `${origin}/` }
  }
  world.signal.throwIfAborted()
  world.onStep('hub')
  // In these states the hub's proxy could only fail.
  const { status, statusReason, blockedUdp } = await world.readGateway(world.signal)
  if (blockedUdp !== null) return { kind: 'blocked-udp', port: blockedUdp }
  if (status === 'offline') return { kind: 'offline', reason: statusReason }
  const query = application === undefined ? '' : `?${new URLSearchParams({ application })}`
  return { kind: 'hub', path: `/proxy/gateway/${gateway.id}${query}` }
}

/** Asks both addresses at once, so that the person waits at most 2 s. The gateway's own address wins over localhost. */
async function directOrigin(
  gateway: Pick<Gateway, 'id' | 'publicIp' | 'vpnInternalIp'>,
  world: ConnectWorld,
): Promise<string | undefined> {
  const signal = AbortSignal.any([world.signal, AbortSignal.timeout(DIRECT_CHECK_MS)])
  const origins = [gateway.publicIp ?? gateway.vpnInternalIp, 'localhost'].map(originOf)
  const answers = origins.map((origin) => answersAs(gateway.id, origin, world.fetch, signal))
  for (const [index, answer] of answers.entries()) {
    if (await answer) return origins[index]
  }
  return undefined
}

const originOf = (host: string) => `http://${host.includes(':') ? `[${host}]` : host}:${GATEWAY_PORT}`

async function answersAs(gatewayId: string, origin: string, get: typeof fetch, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await get(`${origin}/api/health`, {
      signal,
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
    })
    if (!response.ok) return false
    const health = gatewayHealth.safeParse(await response.json())
    return health.success && health.data.gatewayId === gatewayId
  } catch {
    return false
  }
}
