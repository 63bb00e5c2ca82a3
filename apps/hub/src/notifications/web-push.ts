/**
 * Web Push: messages encrypted for one browser (RFC 8291, RFC 8188), and the hub's identification to push services
 * (VAPID, RFC 8292). Pure, except for keys and salts.
 */
import { createCipheriv, createECDH, createPrivateKey, hkdfSync, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'

const CURVE = 'prime256v1'
const SALT_BYTES = 16
const TAG_BYTES = 16
const RECORD_BYTES = 4_096
const POINT_BYTES = 65
/** RFC 8291 §4: services take 4,096 bytes at least. Header, delimiter and tag are part of them. */
export const PAYLOAD_MAX_BYTES = RECORD_BYTES - (SALT_BYTES + 4 + 1 + POINT_BYTES) - 1 - TAG_BYTES
/** RFC 8292 §2: 24 hours at most. */
const TOKEN_LIFETIME_SECONDS = 12 * 3_600

/** P-256, base64url: the uncompressed point and the scalar. */
export type PushKeys = { publicKey: string; privateKey: string }
export type PushReceiver = { p256dh: string; auth: string }

export function makePushKeys(): PushKeys {
  const pair = createECDH(CURVE)
  pair.generateKeys()
  return { publicKey: pair.getPublicKey('base64url'), privateKey: pair.getPrivateKey('base64url') }
}

/** Whether the point is on the curve and the secret has its length. */
export function isPushReceiver({ p256dh, auth }: PushReceiver): boolean {
  const point = Buffer.from(p256dh, 'base64url')
  if (point.length !== POINT_BYTES || point[0] !== 4 || Buffer.from(auth, 'base64url').length !== SALT_BYTES)
    return false
  try {
    const pair = createECDH(CURVE)
    pair.generateKeys()
    pair.computeSecret(point)
    return true
  } catch {
    return false
  }
}

/**
 * The body of a push message, with content encoding `aes128gcm`. `sender` and `salt` are new for each message; tests
 * give those of RFC 8291 appendix A.
 */
export function encryptPush(
  payload: Buffer,
  { p256dh, auth }: PushReceiver,
  sender: PushKeys = makePushKeys(),
  salt: Buffer = randomBytes(SALT_BYTES),
): Buffer {
  if (payload.length > PAYLOAD_MAX_BYTES) throw new RangeError(`a push message has at most ${PAYLOAD_MAX_BYTES} bytes`)
  const receiver = Buffer.from(p256dh, 'base64url')
  const pair = createECDH(CURVE)
  pair.setPrivateKey(sender.privateKey, 'base64url')
  const point = pair.getPublicKey()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, point])
  const material = hkdf(pair.computeSecret(receiver), Buffer.from(auth, 'base64url'), info, 32)
  const key = hkdf(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = hkdf(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  // The byte 2 ends the last record.
  const text = Buffer.concat([cipher.update(payload), cipher.update(Buffer.from([2])), cipher.final()])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(RECORD_BYTES)
  return Buffer.concat([salt, size, Buffer.from([point.length]), point, text, cipher.getAuthTag()])
}

/**
 * The value of `Authorization` for a push service. `subject` is where its operator finds the hub's: mailto: or https:.
 */
export async function vapidHeader(
  { endpoint, subject, now }: { endpoint: string; subject: string; now: number },
  { publicKey, privateKey }: PushKeys,
): Promise<string> {
  const point = Buffer.from(publicKey, 'base64url')
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
      d: privateKey,
    },
  })
  const token = await new SignJWT({ aud: new URL(endpoint).origin, sub: subject })
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .setExpirationTime(Math.floor(now / 1_000) + TOKEN_LIFETIME_SECONDS)
    .sign(key)
  return `vapid t=${token}, k=${publicKey}`
}

function hkdf(material: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', material, salt, info, bytes))
}
