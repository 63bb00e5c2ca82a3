/**
 * A push service and its browsers, as RFC 8030, 8188, 8291 and 8292 define them, written with WebCrypto and apart from
 * the hub's own code. It refuses what a real one refuses.
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import * as tls from 'node:tls'
import { decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import { issueAuthority, issueServerCertificate } from '../src/certificates/issue.ts'

const { subtle } = globalThis.crypto
const BODY_MAX = 4_096
const DAY_SECONDS = 86_400

export type Browser = {
  /** What `PushSubscription.toJSON()` gives. */
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } }
  /** The messages that it was sent, decrypted. */
  shown: { payload: Record<string, unknown>; headers: IncomingHttpHeaders }[]
  /** The service drops the subscription and answers 410. */
  expire(): void
}

export type PushService = {
  /** The value of HUB_PUSH_HOSTS. */
  host: string
  /** Adds a browser that subscribed with the hub's key. */
  addBrowser(applicationServerKey: string): Promise<Browser>
  /** Every refusal, in words. */
  refusals: string[]
  stop(): void
}

type Subscriber = Browser & { pair: CryptoKeyPair; auth: Uint8Array<ArrayBuffer>; key: string; isExpired: boolean }

export async function startPushService(): Promise<PushService> {
  const authority = await issueAuthority(Date.now())
  const { certificate, privateKey } = await issueServerCertificate(authority, ['localhost'], Date.now())
  const before = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...before, authority.certificate])
  const browsers = new Map<string, Subscriber>()
  const refusals: string[] = []
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    const answer = async () => {
      const body = await buffer(request)
      const refusal = await take(browsers.get(request.url ?? ''), request.headers, body, `https://${host}`)
      if (refusal) refusals.push(`${refusal.status} ${refusal.why}`)
      response.writeHead(refusal?.status ?? 201).end(refusal?.why)
    }
    answer().catch((error: unknown) => {
      refusals.push(String(error))
      response.writeHead(400).end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const host = `localhost:${(server.address() as AddressInfo).port}`

  return {
    host,
    refusals,
    async addBrowser(key) {
      const pair = (await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, [
        'deriveBits',
      ])) as CryptoKeyPair
      const point = Buffer.from(await subtle.exportKey('raw', pair.publicKey))
      const auth = Uint8Array.from(randomBytes(16))
      const path = `/send/${randomBytes(12).toString('base64url')}`
      const subscriber: Subscriber = {
        subscription: {
          endpoint: `https://${host}${path}`,
          keys: { p256dh: point.toString('base64url'), auth: Buffer.from(auth).toString('base64url') },
        },
        shown: [],
        expire: () => {
          subscriber.isExpired = true
        },
        pair,
        auth,
        key,
        isExpired: false,
      }
      browsers.set(path, subscriber)
      return subscriber
    },
    stop() {
      server.close()
      server.closeAllConnections()
      tls.setDefaultCACertificates(before)
    },
  }
}

async function take(
  browser: Subscriber | undefined,
  headers: IncomingHttpHeaders,
  body: Buffer,
  origin: string,
): Promise<{ status: number; why: string } | undefined> {
  if (!browser) return { status: 404, why: 'no such subscription' }
  if (browser.isExpired) return { status: 410, why: 'the subscription has expired' }
  if (!/^\d+$/.test(String(headers['ttl']))) return { status: 400, why: 'TTL is missing' }
  if (headers['topic'] !== undefined && !/^[\w-]{1,32}$/.test(String(headers['topic'])))
    return { status: 400, why: 'the topic is not valid' }
  if (headers['content-encoding'] !== 'aes128gcm') return { status: 400, why: 'the encoding is unknown' }
  if (body.length > BODY_MAX) return { status: 413, why: 'the message is too large' }
  const problem = await problemOfVapid(String(headers['authorization']), browser.key, origin)
  if (problem !== undefined) return { status: 403, why: problem }
  const text = await decrypt(browser, body)
  browser.shown.push({ payload: JSON.parse(text) as Record<string, unknown>, headers })
  return undefined
}

/** RFC 8292 §2. */
async function problemOfVapid(header: string, expectedKey: string, origin: string): Promise<string | undefined> {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? []
  if (key !== expectedKey) return 'the key is not the one of the subscription'
  if (decodeProtectedHeader(token).alg !== 'ES256') return 'the token is not signed with ES256'
  const point = Buffer.from(key, 'base64url')
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url') }
  const publicKey = await importJWK({ ...jwk, y: point.subarray(33).toString('base64url') }, 'ES256')
  const { payload } = await jwtVerify(token, publicKey, { audience: origin })
  if ((payload.exp ?? Infinity) > Date.now() / 1_000 + DAY_SECONDS) return 'the token lives for more than a day'
  if (!/^(mailto:|https:\/\/)/.test(payload.sub ?? '')) return 'the token names no contact'
  return undefined
}

/** RFC 8291 §3.4 and RFC 8188 §2. */
async function decrypt({ pair, auth, subscription }: Subscriber, body: Buffer): Promise<string> {
  const bytes = Uint8Array.from(body)
  const salt = bytes.slice(0, 16)
  const idLength = bytes[20] ?? 0
  const sender = bytes.slice(21, 21 + idLength)
  const senderKey = await subtle.importKey('raw', sender, { name: 'ECDH', namedCurve: 'P-256' }, false, [])
  const shared = await subtle.deriveBits({ name: 'ECDH', public: senderKey }, pair.privateKey, 256)
  const text = new TextEncoder()
  const receiver = Buffer.from(subscription.keys.p256dh, 'base64url')
  const info = Buffer.concat([text.encode('WebPush: info\0'), receiver, sender])
  const material = await derive(shared, auth, Uint8Array.from(info), 32)
  const key = await derive(material, salt, text.encode('Content-Encoding: aes128gcm\0'), 16)
  const iv = await derive(material, salt, text.encode('Content-Encoding: nonce\0'), 12)
  const aes = await subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
  const plain = Buffer.from(await subtle.decrypt({ name: 'AES-GCM', iv }, aes, bytes.slice(21 + idLength)))
  if (plain.at(-1) !== 2) throw new Error('the last record has no delimiter')
  return plain.subarray(0, -1).toString('utf8')
}

async function derive(
  material: ArrayBuffer,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
) {
  const key = await subtle.importKey('raw', material, 'HKDF', false, ['deriveBits'])
  return subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, bytes * 8)
}
