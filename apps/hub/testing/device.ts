import { randomBytes } from 'node:crypto'
import type { ApprovedRegistration } from '@hedgerow/contract'
import {
  answerBytes,
  exchangeKeys,
  generateIdentitySeed,
  HUB_SIGNATURE_HEADER,
  identityOfSeed,
  NONCE_HEADER,
  proofOfPossession,
  registrationBytes,
  requestBytes,
  seal,
  SIGNATURE_HEADER,
  TIME_HEADER,
  unseal,
  verifyChallenge,
  verifySignature,
  type Challenge,
  type Identity,
} from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import type { FastifyInstance, InjectOptions } from 'fastify'

type Answer = { status: number; body: Json; headers: Record<string, unknown> }
/** The fields of every answer: a test reads those it expects. */
type Json = Challenge &
  Omit<ApprovedRegistration, 'status'> & {
    signature: string
    registrationId: string
    status: string
    reason: string
    error: string
    fieldErrors: Record<string, string>
  }
type Keys = { identity: Identity; privateKey: string; publicKey: string }

/** A device that enrols as the agent does, and can do any step wrong. */
export type TestDevice = Keys & {
  deviceToken: string
  challenge(): Promise<Challenge & { signature: string }>
  /** The registration's body; `change` edits it before it is sealed in JSON and signed. */
  message(challenge: Challenge, change?: Record<string, unknown>, invitationCode?: string): Record<string, unknown>
  send(message: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>
  /** Challenge and registration. */
  register(change?: Record<string, unknown>, invitationCode?: string): Promise<Answer>
  /** The signed request of a status, to send once or repeatedly. */
  statusRequest(registrationId: string, options?: StatusOptions): InjectOptions
  status(registrationId: string, options?: StatusOptions): Promise<Answer>
  presharedKey(approved: ApprovedRegistration, nonce: string): string | undefined
}

/** `hub`: the host that a gateway says it used; older agents do not send it. */
type StatusOptions = { waitSeconds?: number; timeMs?: number; nonce?: string; hub?: string }

const REGISTER = '/api/v1/gateway/register'

export function newKeys(): Keys {
  return { identity: identityOfSeed(generateIdentitySeed()), ...generateKeyPair() }
}

export function createTestDevice(
  app: FastifyInstance,
  options: {
    hubIdentity?: string
    from?: string
    now?: () => number
    name?: string
    deviceToken?: string
  } & Partial<Keys> = {},
): TestDevice {
  const { from = '198.51.100.7', now = Date.now, name = 'Barn' } = options
  const keys: Keys = { ...newKeys(), ...pick(options) }
  const deviceToken = options.deviceToken ?? `DT-${randomBytes(6).toString('hex').toUpperCase()}`
  const { identity, privateKey, publicKey } = keys

  async function inject(request: InjectOptions): Promise<Answer> {
    const response = await app.inject({ remoteAddress: from, ...request })
    return {
      status: response.statusCode,
      body: response.json<Json>(),
      headers: response.headers,
    }
  }

  const device: TestDevice = {
    ...keys,
    deviceToken,
    async challenge() {
      const own = { identityPublicKey: identity.publicKey, wireguardPublicKey: publicKey }
      const { status, body } = await inject({ method: 'POST', url: `${REGISTER}/challenge`, payload: own })
      if (status !== 200) throw new Error(`The challenge was refused: ${JSON.stringify(body)}`)
      const challenge = { ...body, ...own }
      if (!verifyChallenge(challenge, body.signature)) throw new Error('The challenge is not signed by its hub')
      return challenge
    },
    message(challenge, change = {}, invitationCode) {
      const exchange = exchangeKeys(privateKey, challenge.hubEphemeralPublicKey, challenge.nonce)
      if (!exchange) throw new Error('The hub gave no usable ephemeral key')
      const { hubEphemeralPublicKey } = challenge
      const proven = { identityPublicKey: identity.publicKey, wireguardPublicKey: publicKey, hubEphemeralPublicKey }
      return {
        version: 1,
        nonce: challenge.nonce,
        identityPublicKey: identity.publicKey,
        wireguardPublicKey: publicKey,
        deviceName: name,
        deviceLocation: 'North field',
        deviceVersion: '1.2.3',
        macAddress: '02:00:00:00:00:01',
        proof: proofOfPossession(exchange, proven),
        sealed: seal(exchange, JSON.stringify({ deviceToken, invitationCode })),
        ...change,
      }
    },
    send(message, headers = {}) {
      const payload = JSON.stringify(message)
      const signature = identity.sign(registrationBytes(Buffer.from(payload)))
      return inject({
        method: 'POST',
        url: REGISTER,
        payload,
        headers: { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature, ...headers },
      })
    },
    register: async (change, invitationCode) =>
      device.send(device.message(await device.challenge(), change, invitationCode)),
    statusRequest(
      registrationId,
      { waitSeconds, timeMs = now(), nonce = randomBytes(32).toString('base64'), hub } = {},
    ) {
      const query = waitSeconds === undefined ? '' : `?waitSeconds=${waitSeconds}`
      const target = `${REGISTER}/${registrationId}/status${query}`
      const time = String(Math.floor(timeMs))
      const payload = hub === undefined ? '' : JSON.stringify({ hub })
      const signed = requestBytes({ method: 'POST', target, time, nonce, body: Buffer.from(payload) })
      const headers = {
        host: 'hub.example:8080',
        ...(payload && { 'content-type': 'application/json' }),
        [TIME_HEADER]: time,
        [NONCE_HEADER]: nonce,
        [SIGNATURE_HEADER]: identity.sign(signed),
      }
      return { method: 'POST', url: target, headers, remoteAddress: from, ...(payload && { payload }) }
    },
    async status(registrationId, statusOptions) {
      const request = device.statusRequest(registrationId, statusOptions)
      const response = await app.inject(request)
      const { hubIdentity } = options
      if (hubIdentity !== undefined && response.statusCode === 200) {
        const bytes = answerBytes(String(request.headers?.[NONCE_HEADER]), Buffer.from(response.body))
        if (!verifySignature(hubIdentity, bytes, String(response.headers[HUB_SIGNATURE_HEADER])))
          throw new Error('The answer is not signed by the hub')
      }
      return { status: response.statusCode, body: response.json<Json>(), headers: response.headers }
    },
    presharedKey(approved, nonce) {
      const exchange = exchangeKeys(privateKey, approved.hubEphemeralPublicKey, nonce)
      return exchange && unseal(exchange, approved.sealedPresharedKey)
    },
  }
  return device
}

function pick({ identity, privateKey, publicKey }: Partial<Keys>): Partial<Keys> {
  return { ...(identity && { identity }), ...(privateKey && publicKey && { privateKey, publicKey }) }
}
