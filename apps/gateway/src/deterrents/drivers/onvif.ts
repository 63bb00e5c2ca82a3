import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { callDevice } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate } from './driver.ts'

const DEVICE = 'http://www.onvif.org/ver10/device/wsdl'
const SCHEMA = 'http://www.onvif.org/ver10/schema'
const SECURITY = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'

const NUMBERS = /<(?:[\w-]{1,40}:)?(Year|Month|Day|Hour|Minute|Second)>\s{0,20}(\d{1,4})\s{0,20}</g

export const driver = driverType({
  name: 'onvif',
  summary: 'A relay output of an ONVIF camera. The camera ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.25`.'),
    user: z.string().min(1).max(100),
    password: z.string().max(200),
    relay: z.string().min(1).max(64).describe('The token of the relay output, such as `RelayOutput_1`.'),
    idle: z.enum(['open', 'closed']).default('open').describe('The state of its contact while it is off.'),
    verifyCertificate,
  },
  secrets: ({ password }) => [password],
  open({ address, user, password, relay, idle, verifyCertificate }) {
    const url = new URL('/onvif/device_service', address)
    const token = `<d:RelayOutputToken>${escape(relay)}</d:RelayOutputToken>`

    async function post(header: string, body: string, signal: AbortSignal): Promise<string> {
      const answer = await callDevice({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/soap+xml; charset=utf-8' },
        body: `<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:d="${DEVICE}" xmlns:t="${SCHEMA}"><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`,
        signal,
        verifyCertificate,
      })
      if (answer.status === 200 && !/<[\w-]{0,40}:?Fault[\s>]/.test(answer.text)) return answer.text
      if (answer.status === 401 || answer.text.includes('NotAuthorized'))
        throw new DeviceRefusal('the camera refused the user or the password')
      const [, reason] = /<(?:[\w-]{1,40}:)?Text[^>]{0,100}>([^<]{1,200})</.exec(answer.text) ?? []
      throw new DeviceRefusal(`the camera answered ${reason ?? answer.status}`)
    }

    /** A digest counts for a short while by the camera's clock, which is often wrong. */
    async function cameraTime(signal: AbortSignal): Promise<Date> {
      const text = await post('', '<d:GetSystemDateAndTime/>', signal)
      const [, utc = ''] =
        /<(?:[\w-]{1,40}:)?UTCDateTime>(.{1,1000}?)<\/(?:[\w-]{1,40}:)?UTCDateTime>/s.exec(text) ?? []
      const parts = new Map([...utc.matchAll(NUMBERS)].map(([, name, digits]) => [name, Number(digits)]))
      const [year, month, day] = ['Year', 'Month', 'Day'].map((part) => parts.get(part) ?? Number.NaN)
      const [hour, minute, second] = ['Hour', 'Minute', 'Second'].map((part) => parts.get(part) ?? Number.NaN)
      const at = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second))
      return Number.isNaN(at.getTime()) ? new Date() : at
    }

    async function call(body: string, expected: string, signal: AbortSignal): Promise<void> {
      const created = (await cameraTime(signal)).toISOString()
      const text = await post(usernameToken(user, password, created), body, signal)
      if (!text.includes(expected)) throw new DeviceRefusal('the camera did not say that it is done')
    }

    const setState = (state: 'active' | 'inactive', signal: AbortSignal) =>
      call(
        `<d:SetRelayOutputState>${token}<d:LogicalState>${state}</d:LogicalState></d:SetRelayOutputState>`,
        'SetRelayOutputStateResponse',
        signal,
      )

    return {
      async on(seconds, signal) {
        const properties = `<t:Mode>Monostable</t:Mode><t:DelayTime>PT${seconds}S</t:DelayTime><t:IdleState>${idle}</t:IdleState>`
        await call(
          `<d:SetRelayOutputSettings>${token}<d:Properties>${properties}</d:Properties></d:SetRelayOutputSettings>`,
          'SetRelayOutputSettingsResponse',
          signal,
        )
        await setState('active', signal)
        return 'the camera has done it'
      },
      async off(signal) {
        await setState('inactive', signal)
        return 'the camera has done it'
      },
    }
  },
})

/** WS-Security UsernameToken Profile 1.0, section 3.1: the digest is SHA-1 over nonce, time and password. */
function usernameToken(user: string, password: string, created: string): string {
  const nonce = randomBytes(16)
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const [token, utility] = [`${SECURITY}-wssecurity-secext-1.0.xsd`, `${SECURITY}-wssecurity-utility-1.0.xsd`]
  const types = `${SECURITY}-username-token-profile-1.0#PasswordDigest`
  return `<w:Security s:mustUnderstand="1" xmlns:w="${token}" xmlns:u="${utility}"><w:UsernameToken><w:Username>${escape(user)}</w:Username><w:Password Type="${types}">${digest}</w:Password><w:Nonce EncodingType="${SECURITY}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</w:Nonce><u:Created>${created}</u:Created></w:UsernameToken></w:Security>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
