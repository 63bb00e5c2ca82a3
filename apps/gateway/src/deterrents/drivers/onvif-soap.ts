/**
 * Calls to an ONVIF device: SOAP 1.2 over HTTP, signed with a WS-Security UsernameToken, or with HTTP Digest where the
 * device asks for it. Answers are searched for elements and never expanded: only the five entities of XML are known.
 */
import { createHash, randomBytes } from 'node:crypto'
import { digestAuthorization, digestChallengeOf, type DigestChallenge } from '../../kernel/http-digest.ts'
import { callDevice, type DeviceAnswer } from './device-call.ts'
import { DeviceRefusal } from './driver.ts'

export const DEVICE_SERVICE_PATH = '/onvif/device_service'

const SECURITY = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'
const NAMESPACES = [
  'xmlns:s="http://www.w3.org/2003/05/soap-envelope"',
  'xmlns:d="http://www.onvif.org/ver10/device/wsdl"',
  'xmlns:m="http://www.onvif.org/ver10/media/wsdl"',
  'xmlns:t="http://www.onvif.org/ver10/schema"',
].join(' ')

export type OnvifDevice = {
  /** Without a user nothing is signed. */
  user?: string | undefined
  password?: string | undefined
  verifyCertificate?: boolean | undefined
}

/** Prefixes in `body`: `d` is the device service, `m` the media service, `t` the schema. Rejects with DeviceRefusal. */
export async function callOnvif(url: URL, device: OnvifDevice, body: string, signal: AbortSignal): Promise<string> {
  if (device.user === undefined) return textOf(await send(url, device, undefined, body, signal))
  const [likely, other] = await possibleTimes(url, device, signal)
  const answer = await send(url, device, likely, body, signal)
  if (other === undefined || !isRefused(answer)) return textOf(answer)
  return textOf(await send(url, device, other, body, signal))
}

/** The texts of all elements of this name, whatever its prefix; nested ones count as one. */
export function textsOf(xml: string, name: string): string[] {
  return elementsOf(xml, name).map(({ content }) => unescapeXml(content.trim()))
}

const TAG = /<(\/?)(?:[\w-]{1,40}:)?([\w-]{1,60})((?:[\s/][^<>]{0,500})?)>/g

/** Attributes and content of all elements of this name, unparsed. */
export function elementsOf(xml: string, name: string): { attributes: string; content: string }[] {
  const found: { attributes: string; content: string }[] = []
  let open: { attributes: string; from: number } | undefined
  for (const { 0: tag, 1: slash, 2: tagName, 3: attributes = '', index } of xml.matchAll(TAG)) {
    if (tagName !== name) continue
    if (slash !== '' && open) {
      found.push({ attributes: open.attributes, content: xml.slice(open.from, index) })
      open = undefined
    } else if (slash === '' && attributes.endsWith('/')) found.push({ attributes, content: '' })
    else if (slash === '') open ??= { attributes, from: index + tag.length }
  }
  return open ? [...found, { attributes: open.attributes, content: '' }] : found
}

/** Signed with this time; unsigned when it is undefined. A device that asks for HTTP Digest gets that too. */
async function send(
  url: URL,
  device: OnvifDevice,
  signedAt: Date | undefined,
  body: string,
  signal: AbortSignal,
): Promise<DeviceAnswer> {
  const { user, password = '', verifyCertificate } = device
  const uri = url.pathname + url.search
  const post = (isSigned: boolean, digest?: { challenge: DigestChallenge; count: number }) => {
    const token = isSigned && signedAt && user !== undefined ? usernameToken(user, password, signedAt) : ''
    const envelope =
      '<?xml version="1.0" encoding="utf-8"?><s:Envelope ' +
      `${NAMESPACES}><s:Header>${token}</s:Header><s:Body>${body}</s:Body></s:Envelope>`
    const request = { method: 'POST', uri, user: user ?? '', password, body: envelope, count: digest?.count ?? 0 }
    return callDevice({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/soap+xml; charset=utf-8',
        ...(digest && { authorization: digestAuthorization(digest.challenge, request) }),
      },
      body: envelope,
      signal,
      ...(verifyCertificate !== undefined && { verifyCertificate }),
    })
  }
  const answer = await post(true)
  const challenge = answer.status === 401 ? digestChallengeOf(answer.headers['www-authenticate']) : undefined
  if (!challenge || user === undefined) return answer
  // Without the token at first: a device that does not know it has to refuse it (`mustUnderstand`).
  const unsigned = await post(false, { challenge, count: 1 })
  return signedAt && isRefused(unsigned) && unsigned.status !== 401 ? post(true, { challenge, count: 2 }) : unsigned
}

const isDone = ({ status, text }: DeviceAnswer): boolean => status === 200 && !/<[\w-]{0,40}:?Fault[\s>]/.test(text)

/** The device refuses who asks, or the time of the signature. */
const isRefused = (answer: DeviceAnswer): boolean =>
  answer.status === 401 ||
  (!isDone(answer) && /NotAuthori[sz]ed|FailedAuthentication|MessageExpired/i.test(answer.text))

function textOf(answer: DeviceAnswer): string {
  if (isDone(answer)) return answer.text
  if (isRefused(answer)) throw new DeviceRefusal('the camera refused the user or the password')
  const [, reason] = /<(?:[\w-]{1,40}:)?Text[^>]{0,100}>([^<]{1,200})</.exec(answer.text) ?? []
  throw new DeviceRefusal(`the camera answered ${reason ?? answer.status}`)
}

/** A signature is accepted for longer than this, so that a second try with such a time would be the same. */
const SAME_TIME_MS = 5_000

/**
 * The times to sign with, the likeliest first. A device accepts a signature for a short time by its own clock, which is
 * often wrong. Some tell their clock only to those who sign, or not at all (github.com/agsh/onvif issue 301,
 * github.com/lumeohq/onvif-rs issue 65); they are tried with our clock, as is one that refuses a signature with its
 * own.
 */
async function possibleTimes(url: URL, device: OnvifDevice, signal: AbortSignal): Promise<[Date, Date?]> {
  const body = '<d:GetSystemDateAndTime/>'
  const unsigned = await send(url, device, undefined, body, signal)
  const now = new Date()
  const answer = isDone(unsigned) ? unsigned : await send(url, device, now, body, signal)
  const { text } = answer
  const utc = isDone(answer) ? timeIn(text, 'UTCDateTime') : undefined
  // Without its zone it is a guess: many devices keep UTC there.
  const local = isDone(answer) ? timeIn(text, 'LocalDateTime') : undefined
  const other = utc ?? local
  if (!other || Math.abs(other.getTime() - now.getTime()) < SAME_TIME_MS) return [other ?? now]
  return utc ? [utc, now] : [now, other]
}

function timeIn(text: string, element: string): Date | undefined {
  const time = elementsOf(text, element)[0]?.content ?? ''
  const number = (name: string) => Number(/^\d{1,4}$/.exec(textsOf(time, name)[0] ?? '')?.[0])
  const [year, month, day] = ['Year', 'Month', 'Day'].map(number)
  const [hour, minute, second] = ['Hour', 'Minute', 'Second'].map(number)
  const at = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second))
  return Number.isNaN(at.getTime()) ? undefined : at
}

/** WS-Security UsernameToken Profile 1.0, section 3.1: the digest is SHA-1 over nonce, time and password. */
function usernameToken(user: string, password: string, at: Date): string {
  const created = at.toISOString()
  const nonce = randomBytes(16)
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const [token, utility] = [`${SECURITY}-wssecurity-secext-1.0.xsd`, `${SECURITY}-wssecurity-utility-1.0.xsd`]
  const types = `${SECURITY}-username-token-profile-1.0#PasswordDigest`
  return (
    `<w:Security s:mustUnderstand="1" xmlns:w="${token}" ` +
    `xmlns:u="${utility}"><w:UsernameToken><w:Username>${escapeXml(user)}</w:Username><w:Password ` +
    `Type="${types}">${digest}</w:Password><w:Nonce ` +
    `EncodingType="${SECURITY}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</w:Nonce>` +
    `<u:Created>${created}</u:Created></w:UsernameToken></w:Security>`
  )
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export function unescapeXml(text: string): string {
  const plain = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' }
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => plain[entity as keyof typeof plain])
}
