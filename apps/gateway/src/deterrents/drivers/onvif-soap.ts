/**
 * Calls to an ONVIF device: SOAP 1.2 over HTTP, signed with a WS-Security UsernameToken. Answers are searched for
 * elements and never expanded: only the five entities of XML are known.
 */
import { createHash, randomBytes } from 'node:crypto'
import { callDevice } from './device-call.ts'
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
  const { user, password = '' } = device
  if (user === undefined) return post(url, device, '', body, signal)
  const created = (await deviceTime(url, device, signal)).toISOString()
  return post(url, device, usernameToken(user, password, created), body, signal)
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

async function post(url: URL, device: OnvifDevice, header: string, body: string, signal: AbortSignal): Promise<string> {
  const answer = await callDevice({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/soap+xml; charset=utf-8' },
    body: `<?xml version="1.0" encoding="utf-8"?><s:Envelope ${NAMESPACES}><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`,
    signal,
    ...(device.verifyCertificate !== undefined && { verifyCertificate: device.verifyCertificate }),
  })
  if (answer.status === 200 && !/<[\w-]{0,40}:?Fault[\s>]/.test(answer.text)) return answer.text
  if (answer.status === 401 || answer.text.includes('NotAuthorized'))
    throw new DeviceRefusal('the camera refused the user or the password')
  const [, reason] = /<(?:[\w-]{1,40}:)?Text[^>]{0,100}>([^<]{1,200})</.exec(answer.text) ?? []
  throw new DeviceRefusal(`the camera answered ${reason ?? answer.status}`)
}

/** The device's clock, which is often wrong: it accepts a digest only for a short time. */
async function deviceTime(url: URL, device: OnvifDevice, signal: AbortSignal): Promise<Date> {
  const text = await post(url, device, '', '<d:GetSystemDateAndTime/>', signal)
  const utc = elementsOf(text, 'UTCDateTime')[0]?.content ?? ''
  const number = (name: string) => Number(/^\d{1,4}$/.exec(textsOf(utc, name)[0] ?? '')?.[0])
  const [year, month, day] = ['Year', 'Month', 'Day'].map(number)
  const [hour, minute, second] = ['Hour', 'Minute', 'Second'].map(number)
  const at = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second))
  return Number.isNaN(at.getTime()) ? new Date() : at
}

/** WS-Security UsernameToken Profile 1.0, section 3.1: the digest is SHA-1 over nonce, time and password. */
function usernameToken(user: string, password: string, created: string): string {
  const nonce = randomBytes(16)
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const [token, utility] = [`${SECURITY}-wssecurity-secext-1.0.xsd`, `${SECURITY}-wssecurity-utility-1.0.xsd`]
  const types = `${SECURITY}-username-token-profile-1.0#PasswordDigest`
  return `<w:Security s:mustUnderstand="1" xmlns:w="${token}" xmlns:u="${utility}"><w:UsernameToken><w:Username>${escapeXml(user)}</w:Username><w:Password Type="${types}">${digest}</w:Password><w:Nonce EncodingType="${SECURITY}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</w:Nonce><u:Created>${created}</u:Created></w:UsernameToken></w:Security>`
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export function unescapeXml(text: string): string {
  const plain = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' }
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => plain[entity as keyof typeof plain])
}
