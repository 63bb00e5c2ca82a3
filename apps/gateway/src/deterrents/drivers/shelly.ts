import { z } from 'zod'
import { digestAuthorization, digestChallengeOf } from '../../kernel/http-digest.ts'
import { callDevice, readAnswer, type DeviceAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate } from './driver.ts'

export const driver = driverType({
  name: 'shelly',
  summary: 'A Shelly of the second generation or later, over its RPC. It ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.21`.'),
    output: z.number().int().min(0).max(63).default(0).describe('The number of the output, from 0.'),
    password: z.string().max(200).optional().describe('Only for a device that asks for one; the user is `admin`.'),
    verifyCertificate,
  },
  secrets: ({ password }) => [password],
  open({ address, output, password, verifyCertificate }) {
    const path = '/rpc/Switch.Set'

    async function set(parameters: object, signal: AbortSignal): Promise<string> {
      const send = (headers: Record<string, string>) =>
        callDevice({
          url: new URL(path, address),
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ id: output, ...parameters }),
          signal,
          verifyCertificate,
        })
      let answer = await send({})
      if (answer.status === 401 && password !== undefined)
        answer = await send({ authorization: digest(answer, 'POST', path, 'admin', password) })
      if (answer.status === 401) throw new DeviceRefusal('the device refused the password')
      const { was_on: wasOn } = readAnswer(answer, z.object({ was_on: z.boolean() }))
      return `it was ${wasOn ? 'on' : 'off'}`
    }

    return {
      on: (seconds, signal) => set({ on: true, toggle_after: seconds }, signal),
      off: (signal) => set({ on: false }, signal),
    }
  },
})

/** A Shelly offers SHA-256 only, so a weaker challenge is not from a Shelly. */
function digest({ headers }: DeviceAnswer, method: string, uri: string, user: string, password: string): string {
  const challenge = digestChallengeOf(headers['www-authenticate'])
  if (challenge?.algorithm !== 'SHA-256')
    throw new DeviceRefusal('the device offers no SHA-256 challenge for the password')
  return digestAuthorization(challenge, { method, uri, user, password, count: 1 })
}
