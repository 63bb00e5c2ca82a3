/**
 * Access to a gateway's page: the cookie names a session on the gateway's origin, its hub session must be live, and
 * that person must still see the gateway. Checked for every request;
 * `docs/decisions/032-savings-worth-their-code.md` says what is remembered between two of them.
 */
import { TOKEN_PREFIX, type Application } from '@hedgerow/contract'
import { valuesOf, type RequestHead } from '@hedgerow/http'
import { HubError } from '../kernel/hub-error.ts'
import { mayOpen, type Principal } from '../access/scope.ts'
import type { Caller, Sessions } from '../access/sessions.ts'
import { sessionTokens } from './cookies.ts'
import { isPortMode, type GatewayHost, type Place } from './origins.ts'
import type { Grant } from './tickets.ts'
import type { UiSessions } from './ui-sessions.ts'

/** No application sends more, and each check costs a signature. */
const MAX_TOKENS = 8
/**
 * How long it takes to notice that another process (the command line, or a hub that is being replaced) changed what a
 * person sees.
 */
const REMEMBERED_MS = 500
/** Those of programs. */
const TOKENS = new RegExp(String.raw`${TOKEN_PREFIX}\w+`, 'g')

export type UiGateway = {
  id: string
  name: string
  address: string
  /** The host and port that its UDP must reach, in words: `port 51820 of hub.example.org`. */
  vpnPort(): string
  /** The same, while its UDP seems to be blocked. */
  blockedUdp?: string | undefined
  /** Whether the hub has heard nothing from it for too long. */
  isOffline(): boolean
}
/** What the gateway offers beside its own interface; undefined until its first heartbeat. */
export type ApplicationsOf = (gatewayId: string) => readonly Application[] | undefined
/** Throws gateway_not_found for a gateway that the caller may not see. */
export type FindGateway = (caller: Caller, gatewayId: string) => Promise<UiGateway>

type Visit = Place & { sessionId: string }
type Allowed = { caller: Caller; gateway: UiGateway }
export type Admitted = Allowed & { grant: Grant }

export type VisitorAccess = {
  /**
   * The session's person and the gateway, read again; undefined when the session has ended, or the person may no longer
   * see the gateway or open its application.
   */
  allow(visit: Visit): Promise<Allowed | undefined>
  /**
   * Throws session_required, session_ended, application_not_found, application_role_required or
   * service_worker_refused.
   */
  admit(req: RequestHead, host: GatewayHost): Promise<Admitted>
  /** Whether the Authorization header holds a token of this hub's, valid or not: a gateway must not get it. */
  carriesHubToken(req: RequestHead): Promise<boolean>
  /** Empties the cache, because a person or a gateway has changed. */
  invalidate(): void
}

export function createVisitorAccess({
  hubSessions,
  uiSessions,
  findGateway,
  applicationsOf,
  clock,
}: {
  hubSessions: Pick<Sessions, 'find' | 'remembered' | 'authenticate'>
  uiSessions: UiSessions
  findGateway: FindGateway
  applicationsOf: ApplicationsOf
  clock: () => number
}): VisitorAccess {
  /** The gateways as each caller sees them, by id. A session that is read again is another object, and starts anew. */
  let remembered = new WeakMap<Caller, Map<string, { gateway: UiGateway; readAt: number }>>()
  /** Counts changes, so that a read that began before one is not remembered after it. */
  let changes = 0

  async function readGateway(caller: Caller, gatewayId: string): Promise<UiGateway> {
    const [readAt, changesBefore] = [clock(), changes]
    const seen = remembered.getOrInsertComputed(caller, () => new Map())
    seen.delete(gatewayId)
    const gateway = await findGateway(caller, gatewayId)
    if (changes === changesBefore) seen.set(gatewayId, { gateway, readAt })
    return gateway
  }

  function recall(caller: Caller, gatewayId: string): Allowed | undefined {
    const access = remembered.get(caller)?.get(gatewayId)
    if (!access || Math.abs(clock() - access.readAt) >= REMEMBERED_MS) return undefined
    return { caller, gateway: access.gateway }
  }

  async function mayEnter({ sessionId, gatewayId }: Visit, mayRemember: boolean): Promise<Allowed | undefined> {
    const caller = await hubSessions.find(sessionId)
    if (!caller) return undefined
    const access = mayRemember ? recall(caller, gatewayId) : undefined
    if (access) return access
    try {
      return { caller, gateway: await readGateway(caller, gatewayId) }
    } catch (error) {
      if (error instanceof HubError && error.code === 'gateway_not_found') return undefined
      throw error
    }
  }

  /**
   * The list of applications is unknown just after a gateway came back; then the gateway itself refuses people who may
   * not open one.
   */
  function refusalOf(caller: Caller, place: Place): ApplicationRefusal | undefined {
    const offered = applicationsOf(place.gatewayId)
    return offered && applicationRefusal(caller, place, offered)
  }

  async function isAnyOfTheHub(tokens: readonly string[]): Promise<boolean> {
    const answers = await Promise.allSettled(tokens.map((token) => hubSessions.authenticate(token)))
    return answers.some((answer) => {
      if (answer.status === 'fulfilled') return true
      return !(answer.reason instanceof HubError && answer.reason.code === 'session_required')
    })
  }

  return {
    async allow(visit) {
      const allowed = await mayEnter(visit, false)
      return allowed && refusalOf(allowed.caller, visit) === undefined ? allowed : undefined
    },

    invalidate() {
      changes++
      remembered = new WeakMap()
    },

    async admit(req, host) {
      const grant = uiSessions.find(sessionTokens(req.headers.cookie, host), host)
      if (!grant) throw new HubError('session_required')
      const caller = hubSessions.remembered(grant.sessionId)
      const allowed = (caller && recall(caller, grant.gatewayId)) ?? (await mayEnter(grant, true))
      if (!allowed) throw new HubError('session_ended')
      const refusal = refusalOf(allowed.caller, grant)
      if (refusal !== undefined) throw new HubError(refusal)
      if (isPortMode(host.mode) && req.headers['service-worker'] === 'script')
        throw new HubError('service_worker_refused')
      return { ...allowed, grant }
    },

    async carriesHubToken(req) {
      if (req.headers.authorization === undefined) return false
      const tokens = tokensIn(valuesOf(req.rawHeaders, 'authorization').join(' '))
      return tokens.length > MAX_TOKENS || isAnyOfTheHub(tokens)
    },
  }
}

type ApplicationRefusal = 'application_not_found' | 'application_role_required'

/**
 * The reason why a person may not open a place of a gateway that offers these applications; undefined when
 * they may.
 */
export function applicationRefusal(
  person: Pick<Principal, 'role'>,
  { application }: Place,
  offered: readonly Application[],
): ApplicationRefusal | undefined {
  if (application === undefined) return undefined
  const found = offered.find(({ name }) => name === application)
  if (!found) return 'application_not_found'
  return mayOpen(person, found) ? undefined : 'application_role_required'
}

/** Every possible token of the hub: those of programs, and each three parts in a row, joined by dots. */
function tokensIn(text: string): string[] {
  const tokens: string[] = text.match(TOKENS) ?? []
  for (const run of text.split(/[^\w.-]/)) {
    const parts = run.split('.')
    for (let i = 0; i + 2 < parts.length; i++) {
      const token = parts.slice(i, i + 3)
      if (!token.includes('')) tokens.push(token.join('.'))
    }
  }
  return tokens
}
