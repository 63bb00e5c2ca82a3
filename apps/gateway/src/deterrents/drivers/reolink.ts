import { z } from 'zod'
import { callDevice, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate, SECRET } from './driver.ts'

/** A token counts as expired this long before the camera's own limit. */
const LEASE_SPARE_MS = 60_000
const OK = 200
const LOGIN_NEEDED = -6

const answers = z
  .array(
    z.object({
      code: z.number(),
      value: z
        .object({
          Token: z.object({ name: z.string().min(1).max(200), leaseTime: z.number() }).optional(),
          rspCode: z.number().optional(),
        })
        .optional(),
      error: z.object({ rspCode: z.number(), detail: z.string().max(500).optional() }).optional(),
    }),
  )
  .min(1)

export const driver = driverType({
  name: 'reolink',
  summary: 'The siren or the white light of a Reolink camera.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.24`.'),
    user: z.string().min(1).max(100).default('admin'),
    password: z.string().max(200).meta(SECRET),
    part: z.enum(['siren', 'light']).describe('The part of the camera that is switched.'),
    channel: z
      .number()
      .int()
      .min(0)
      .max(63)
      .default(0)
      .describe('The number of the camera at a recorder; 0 for a camera of its own.'),
    brightness: z
      .number()
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe('The brightness of the light, which the camera keeps; its own when left out.'),
    verifyCertificate,
  },
  secrets: ({ password }) => [password],
  open(settings) {
    const { address, user, password, part, channel, brightness, verifyCertificate } = settings
    let token: { name: string; until: number } | undefined

    async function call(cmd: string, param: object, signal: AbortSignal, name?: string) {
      const url = new URL('/cgi-bin/api.cgi', address)
      url.searchParams.set('cmd', cmd)
      if (name !== undefined) url.searchParams.set('token', name)
      const body = JSON.stringify([{ cmd, action: 0, param }])
      const headers = { 'content-type': 'application/json' }
      const answer = await callDevice({ url, method: 'POST', headers, body, signal, verifyCertificate })
      return readAnswer(answer, answers)[0]!
    }

    async function login(signal: AbortSignal): Promise<string> {
      if (token && token.until > Date.now()) return token.name
      const login = { User: { Version: '0', userName: user, password } }
      const { code, value, error } = await call('Login', login, signal)
      if (code !== 0 || !value?.Token)
        throw new DeviceRefusal(`the camera refused the login (${error?.rspCode ?? code})`)
      const { name, leaseTime } = value.Token
      token = { name, until: Date.now() + leaseTime * 1_000 - LEASE_SPARE_MS }
      return name
    }

    async function set(isOn: boolean, signal: AbortSignal): Promise<string> {
      const state = isOn ? 1 : 0
      const [cmd, param] =
        part === 'siren'
          ? // The camera's own spelling.
            ['AudioAlarmPlay', { alarm_mode: 'manul', manual_switch: state, times: 1, channel }]
          : // Without `mode`: that is the owner's setting of when the light goes on by itself.
            ['SetWhiteLed', { WhiteLed: { channel, state, ...(isOn && brightness && { bright: brightness }) } }]
      let answer = await call(cmd as string, param as object, signal, await login(signal))
      if (answer.error?.rspCode === LOGIN_NEEDED) {
        token = undefined
        answer = await call(cmd as string, param as object, signal, await login(signal))
      }
      const { code, value, error } = answer
      if (code === 0 && (value?.rspCode ?? OK) === OK) return 'the camera has done it'
      const words = error?.detail === undefined ? '' : ` (${error.detail})`
      throw new DeviceRefusal(`the camera answered ${error?.rspCode ?? value?.rspCode ?? code}${words}`)
    }

    return { on: (_seconds, signal) => set(true, signal), off: (signal) => set(false, signal) }
  },
})
