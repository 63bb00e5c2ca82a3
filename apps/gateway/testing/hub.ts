import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  errorTable,
  GATEWAY_FEATURES,
  heartbeat,
  readGatewayReviews,
  register,
  registerChallenge,
  reportDetections,
  reportLedger,
  sealedRegistration,
  type Detection,
  type ErrorCode,
  type Heartbeat,
  type GatewayReview,
  type LedgerEntry,
  type SealedRegistration,
  type WantedUpdate,
} from '@hedgerow/contract'
import {
  answerBytes,
  exchangeKeys,
  fingerprint,
  generateIdentitySeed,
  identityOfSeed,
  registrationBytes,
  requestBytes,
  seal,
  signChallenge,
  unseal,
  verifyProof,
  verifySignature,
  type Challenge,
} from '@hedgerow/enrolment'
import { createStack, type Stack, type TcpStream } from '@hedgerow/netstack/node'
import type { PublicKey } from '@hedgerow/wireguard'
import { generateKeyPair, generatePresharedKey, openInterface, type WireGuardInterface } from '@hedgerow/wireguard/node'
import { firstDetections, firstHeartbeat } from './first-version.ts'

/**
 * The smallest hub that speaks the gateway's side of the protocol for real: sockets, signatures, a WireGuard peer and
 * the gateway API inside the tunnel. It serves one gateway at a time and stores nothing.
 */
export type FixtureHub = {
  url: URL
  fingerprint: string
  /** Registrations, newest last; `secret` is the unsealed part. */
  registrations: { deviceName: string; macAddress: string; identityPublicKey: string; secret: SealedRegistration }[]
  statusRequests: number
  /** Leaves this many of the next requests for a status without an answer. */
  holdStatuses(count: number): void
  heartbeats: Heartbeat[]
  detections: Detection[]
  /** Entries of the ledger as received, with repetitions. */
  ledger: LedgerEntry[]
  /** Reviews of people, and the `after` of each call for them. */
  reviews: GatewayReview[]
  /** The number of the newest review that it reports, when that is not the real one. */
  newestReview?: number
  reviewCalls: number[]
  /** Answers this many calls for reviews with an error. */
  refuseReviews(count: number): void
  decide(decision: Decision): void
  /** Answers this many heartbeats as a hub without time for them, which asks for a pause of a second. */
  beBusy(heartbeats: number): void
  /** When it refused them, by the clock of this process. */
  busyAt: number[]
  /** Refuses detections with this code until `code` is undefined; with `id`, only calls that hold this detection. */
  refuseDetections(code: ErrorCode | undefined, id?: string): void
  /** Replaces the hub by one of the first version, or of today, on the same tunnel. */
  becomeVersion(version: HubVersion): void
  /** Files that it hands out inside the tunnel, by name. */
  downloads: Map<string, Buffer>
  /** Downloads so far, with the byte that each began at. */
  downloaded: { name: string; from: number }[]
  /** Sends no more of an archive at once than this many bytes; then `breakDownloads` has to come. */
  cutArchivesAt?: number
  breakDownloads(): void
  /** The update that its answers to heartbeats ask for. */
  wanted?: WantedUpdate | undefined
  /** The time in its answers; its own clock when unset. */
  serverTime?: number
  /** Stores the entries of this many calls, and answers them with an error. */
  loseLedgerAnswers(count: number): void
  /** The JSON of every heartbeat and detections call, also of refused ones. */
  received: unknown[]
  /** Signs status answers with another key, as somebody in between would. */
  forgeAnswers(): void
  /** TCP to the gateway's tunnel address. */
  dial(port: number): TcpStream
  stop(): Promise<void>
}

type HubVersion = 'first' | 'today'

type Decision =
  | { status: 'pending' }
  | { status: 'rejected'; reason: string }
  | { status: 'approved' }
  | { status: 'gone' }

const REGISTRATION_ID = 'abcdefghijklmnopqrst'
/** Few, so that a test sees several pages. */
const REVIEWS_A_CALL = 2
const HUB_ADDRESS = '10.100.0.1'
export const GATEWAY_ADDRESS = '10.100.0.2'
export const GATEWAY_ID = 'abcdefghijkl'

class Refusal extends Error {
  code: ErrorCode
  fieldErrors: Record<string, string>
  constructor(code: ErrorCode, fieldErrors: Record<string, string> = {}) {
    super(code)
    this.code = code
    this.fieldErrors = fieldErrors
  }
}

export async function startFixtureHub(
  options: { identitySeed?: string; endpointsBefore?: string[]; version?: HubVersion } = {},
): Promise<FixtureHub> {
  const identity = identityOfSeed(options.identitySeed ?? generateIdentitySeed())
  const wireguard = generateKeyPair()
  const presharedKey = generatePresharedKey()
  const challenges = new Map<string, { challenge: Challenge; ephemeralPrivateKey: string }>()
  const usedNonces = new Set<string>()
  const wakers = new Set<() => void>()
  const unfinished = new Set<ServerResponse>()
  let decision: Decision = { status: 'pending' }
  let ledgerAnswersLost = 0
  let reviewsRefused = 0
  let heartbeatsRefused = 0
  let statusesHeld = 0
  let isFirstVersion = options.version === 'first'
  let answerIdentity = identity
  let refused: { code: ErrorCode; id: string | undefined } | undefined
  let gateway: { identityPublicKey: string; wireguardPublicKey: PublicKey } | undefined

  const network: WireGuardInterface = await openInterface({
    privateKey: wireguard.privateKey,
    onPacket: (packet) => stack.receive(packet),
  })
  const stack: Stack = createStack({ address: HUB_ADDRESS, send: (packet) => network.send(packet) })
  const tunnelServer = createServer((request, response) =>
    request.method === 'GET' ? handOut(request, response) : void answer(request, response, tunnelCall),
  )
  stack.listen({ port: 8080 }, (stream) => void tunnelServer.emit('connection', stream))

  function handOut(request: IncomingMessage, response: ServerResponse): void {
    const name = request.url!.replace('/downloads/', '')
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const file = hub.downloads.get(name)
    hub.downloaded.push({ name, from })
    if (!file) return void response.writeHead(404).end()
    const rest = file.subarray(from)
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length })
    const cutAt = name.endsWith('.json') ? undefined : hub.cutArchivesAt
    if (cutAt === undefined || rest.length <= cutAt) return void response.end(rest)
    response.write(rest.subarray(0, cutAt))
    unfinished.add(response)
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    call: (request: IncomingMessage, body: Buffer) => Promise<{ body: object; headers?: Record<string, string> }>,
  ): Promise<void> {
    try {
      const { body, headers } = await call(request, Buffer.concat(await request.toArray()))
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    } catch (error) {
      const { code, fieldErrors } = error instanceof Refusal ? error : new Refusal('invalid_request')
      const { status, message } = errorTable[code]
      const refusal = JSON.stringify({ error: code, message, fieldErrors })
      const headers = { 'content-type': 'application/json', ...(code === 'hub_busy' && { 'retry-after': '1' }) }
      response.writeHead(status, headers).end(refusal)
    }
  }

  async function publicCall(request: IncomingMessage, body: Buffer) {
    if (request.url === '/api/v1/gateway/register/challenge') return { body: challenge(body) }
    if (request.url === '/api/v1/gateway/register') return { body: registration(request, body) }
    if (request.url?.startsWith(`/api/v1/gateway/register/${REGISTRATION_ID}/status?`)) return status(request, body)
    throw new Refusal('not_found')
  }

  function challenge(body: Buffer) {
    const request = registerChallenge.body.parse(JSON.parse(body.toString()))
    const ephemeral = generateKeyPair()
    const made: Challenge = {
      ...request,
      nonce: randomBytes(32).toString('base64'),
      hubEphemeralPublicKey: ephemeral.publicKey,
      hubIdentityPublicKey: identity.publicKey,
      serverTime: Date.now(),
    }
    challenges.set(made.nonce, { challenge: made, ephemeralPrivateKey: ephemeral.privateKey })
    const { nonce, hubEphemeralPublicKey, hubIdentityPublicKey, serverTime } = made
    return { nonce, hubEphemeralPublicKey, hubIdentityPublicKey, serverTime, signature: signChallenge(identity, made) }
  }

  function registration(request: IncomingMessage, body: Buffer) {
    const fields = register.body.parse(JSON.parse(body.toString()))
    const signature = String(request.headers['x-gateway-signature'])
    if (!verifySignature(fields.identityPublicKey, registrationBytes(body), signature))
      throw new Refusal('signature_invalid')
    const issued = challenges.get(fields.nonce)
    challenges.delete(fields.nonce)
    if (!issued) throw new Refusal('challenge_unknown')
    const keys = exchangeKeys(issued.ephemeralPrivateKey, fields.wireguardPublicKey, fields.nonce)
    if (!keys || !verifyProof(keys, issued.challenge, fields.proof)) throw new Refusal('proof_invalid')
    const secret = sealedRegistration.parse(JSON.parse(unseal(keys, fields.sealed) ?? ''))
    const { deviceName, macAddress, identityPublicKey } = fields
    hub.registrations.push({ deviceName, macAddress, identityPublicKey, secret })
    gateway = { identityPublicKey, wireguardPublicKey: fields.wireguardPublicKey as PublicKey }
    if (decision.status === 'gone') decision = { status: 'pending' }
    return {
      registrationId: REGISTRATION_ID,
      status: decision.status,
      fingerprint: fingerprint(identityPublicKey),
    }
  }

  async function status(request: IncomingMessage, body: Buffer) {
    hub.statusRequests += 1
    if (statusesHeld-- > 0) await new Promise(() => {})
    const nonce = String(request.headers['x-gateway-nonce'])
    const time = String(request.headers['x-gateway-time'])
    const signed = requestBytes({ method: 'POST', target: request.url!, time, nonce, body })
    const signature = String(request.headers['x-gateway-signature'])
    if (!gateway || request.headers['x-gateway-identity'] !== gateway.identityPublicKey)
      throw new Refusal('registration_not_found')
    if (!verifySignature(gateway.identityPublicKey, signed, signature)) throw new Refusal('signature_invalid')
    if (usedNonces.has(nonce) || Math.abs(Number(time) - Date.now()) > 120_000) throw new Refusal('request_replayed')
    usedNonces.add(nonce)
    const waitMs = 1_000 * Number(new URL(request.url!, 'http://hub').searchParams.get('waitSeconds'))
    if (decision.status === 'pending' && waitMs > 0) await decidedWithin(waitMs)
    if (decision.status === 'gone') throw new Refusal('registration_not_found')
    const content = decision.status === 'approved' ? approved(nonce) : decision
    const signedAnswer = answerBytes(nonce, Buffer.from(JSON.stringify(content)))
    return { body: content, headers: { 'x-hub-signature': answerIdentity.sign(signedAnswer) } }
  }

  function approved(nonce: string) {
    const ephemeral = generateKeyPair()
    const keys = exchangeKeys(ephemeral.privateKey, gateway!.wireguardPublicKey, nonce)!
    return {
      status: 'approved' as const,
      gatewayId: GATEWAY_ID,
      assignedIp: GATEWAY_ADDRESS,
      hubVpnIp: HUB_ADDRESS,
      allowedIps: [`${HUB_ADDRESS}/32`],
      endpoints: [...(options.endpointsBefore ?? []), `127.0.0.1:${network.port}`],
      hubPublicKey: network.publicKey,
      hubEphemeralPublicKey: ephemeral.publicKey,
      sealedPresharedKey: seal(keys, presharedKey),
      keepaliveSeconds: 25,
    }
  }

  function decidedWithin(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        wakers.delete(finish)
        resolve()
      }
      const timer = setTimeout(finish, waitMs)
      wakers.add(finish)
    })
  }

  async function tunnelCall(request: IncomingMessage, body: Buffer) {
    const message: unknown = JSON.parse(body.toString())
    hub.received.push(message)
    if (request.url === '/api/v1/gateway/heartbeat') {
      if (heartbeatsRefused-- > 0) {
        hub.busyAt.push(performance.now())
        throw new Refusal('hub_busy')
      }
      hub.heartbeats.push((isFirstVersion ? firstHeartbeat : heartbeat).parse(message))
      const answer = {
        serverTime: hub.serverTime ?? Date.now(),
        settings: { heartbeatIntervalSeconds: hub.wanted ? 5 : 30 },
        ...(hub.wanted && { update: hub.wanted }),
      }
      return {
        body: isFirstVersion
          ? answer
          : { ...answer, features: GATEWAY_FEATURES, reviews: hub.newestReview ?? hub.reviews.at(-1)?.seq ?? 0 },
      }
    }
    if (request.url === '/api/v1/gateway/ledger' && !isFirstVersion) {
      const { entries } = reportLedger.body.parse(message)
      hub.ledger.push(...entries)
      if (ledgerAnswersLost-- > 0) throw new Refusal('storage_unavailable')
      return { body: { accepted: entries.length } }
    }
    if (request.url === '/api/v1/gateway/reviews' && !isFirstVersion) {
      const { after } = readGatewayReviews.body.parse(message)
      hub.reviewCalls.push(after)
      if (reviewsRefused-- > 0) throw new Refusal('storage_unavailable')
      return { body: { reviews: hub.reviews.filter(({ seq }) => seq > after).slice(0, REVIEWS_A_CALL) } }
    }
    const { detections } = (isFirstVersion ? firstDetections : reportDetections.body).parse(message)
    const index = detections.findIndex(({ id }) => id === refused?.id)
    if (refused && (refused.id === undefined || index >= 0))
      throw new Refusal(refused.code, { [`detections.${index}.score`]: 'Too big' })
    hub.detections.push(...detections)
    return { body: { accepted: detections.length } }
  }

  const server = createServer((request, response) => void answer(request, response, publicCall))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const hub: FixtureHub = {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    fingerprint: fingerprint(identity.publicKey),
    registrations: [],
    statusRequests: 0,
    heartbeats: [],
    detections: [],
    ledger: [],
    reviews: [],
    reviewCalls: [],
    downloads: new Map(),
    downloaded: [],
    breakDownloads() {
      for (const response of unfinished) response.destroy()
      unfinished.clear()
    },
    busyAt: [],
    beBusy: (heartbeats) => (heartbeatsRefused = heartbeats),
    refuseReviews: (count) => (reviewsRefused = count),
    loseLedgerAnswers: (count) => (ledgerAnswersLost = count),
    received: [],
    becomeVersion: (version) => (isFirstVersion = version === 'first'),
    decide(decided) {
      decision = decided
      if (gateway && decided.status === 'approved')
        network.updatePeer({
          publicKey: gateway.wireguardPublicKey,
          presharedKey,
          allowedIps: [`${GATEWAY_ADDRESS}/32`],
        })
      for (const wake of wakers) wake()
    },
    refuseDetections: (code, id) => (refused = code && { code, id }),
    holdStatuses: (count) => void (statusesHeld = count),
    forgeAnswers: () => (answerIdentity = identityOfSeed(generateIdentitySeed())),
    dial: (port) => stack.connect({ host: GATEWAY_ADDRESS, port }),
    async stop() {
      for (const wake of wakers) wake()
      server.closeAllConnections()
      server.close()
      stack.close()
      await network.close()
    },
  }
  return hub
}
