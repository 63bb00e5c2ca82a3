import { z } from 'zod'
import { digestAuthorization, digestChallengeOf, type DigestRequest } from '../../kernel/http-digest.ts'
import { callDevice, jsonOf, readAnswer, type DeviceAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate, SECRET } from './driver.ts'

export const driver = driverType({
  name: 'shelly',
  summary: 'A Shelly of the second generation or later, over its RPC. It ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.21`.'),
    output: z.number().int().min(0).max(63).default(0).describe('The number of the output, from 0.'),
    password: z
      .string()
      .max(200)
      .optional()
      .meta(SECRET)
      .describe('Only for a device that asks for one; the user is `admin`.'),
    verifyCertificate,
  },
  anyOutput: { output: 0 },
  secrets: ({ password }) => [password],
  open({ address, output, password, verifyCertificate }) {
    async function call(method: string, parameters: object, signal: AbortSignal): Promise<DeviceAnswer> {
      const path = `/rpc/${method}`
      const body = JSON.stringify(parameters)
      const send = (headers: Record<string, string>) =>
        callDevice({
          url: new URL(path, address),
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
          signal,
          verifyCertificate,
        })
      let answer = await send({})
      if (answer.status === 401 && password !== undefined)
        answer = await send({
          authorization: digest(answer, { method: 'POST', uri: path, user: 'admin', password, body, count: 1 }),
        })
      if (answer.status === 401) throw new DeviceRefusal('the device refused the password')
      const { success, data } = failure.safeParse(jsonOf(answer.text))
      // Such as an output that it does not have, or has as a cover.
      if (answer.status !== 200 && success)
        throw new DeviceRefusal(`the device answered ${answer.status}: ${data.message}`)
      return answer
    }

    /** The answer to `Switch.Set` tells only what the output was before. */
    async function set(parameters: { on: boolean; toggle_after?: number }, signal: AbortSignal): Promise<string> {
      readAnswer(await call('Switch.Set', { id: output, ...parameters }, signal), z.object({ was_on: z.boolean() }))
      const status = readAnswer(await call('Switch.GetStatus', { id: output }, signal), switchStatus)
      const says = status.output ? 'on' : 'off'
      if (status.output === parameters.on) return `the output is ${says}`
      throw new DeviceRefusal([`the output is ${says}`, ...(status.errors ?? [])].join(', '))
    }

    return {
      on: (seconds, signal) => set({ on: true, toggle_after: seconds }, signal),
      off: (signal) => set({ on: false }, signal),
      async outputs(signal) {
        const names = readAnswer(await call('Shelly.GetConfig', {}, signal), parts)
        const states = readAnswer(await call('Shelly.GetStatus', {}, signal), parts)
        return Object.entries(states).flatMap(([part, state]) => {
          const id = /^switch:(\d+)$/.exec(part)?.[1]
          const { data } = switchStatus.safeParse(state)
          if (id === undefined || !data) return []
          const name = named.safeParse(names[part]).data?.name ?? ''
          return [{ name, isOn: data.output, settings: { output: Number(id) } }]
        })
      },
    }
  },
})

const switchStatus = z.object({ output: z.boolean(), errors: z.array(z.string()).optional() })
/** Such as `switch:0`. */
const parts = z.record(z.string(), z.unknown())
const named = z.object({ name: z.string().nullable() })
const failure = z.object({ code: z.number(), message: z.string() })

/** A Shelly offers SHA-256 only, so a weaker challenge is not from a Shelly. */
function digest({ headers }: DeviceAnswer, request: DigestRequest): string {
  const challenge = digestChallengeOf(headers['www-authenticate'])
  if (challenge?.algorithm !== 'SHA-256')
    throw new DeviceRefusal('the device offers no SHA-256 challenge for the password')
  return digestAuthorization(challenge, request)
}
