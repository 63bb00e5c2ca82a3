import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { callDevice } from './device-call.ts'
import { DeviceRefusal, driverType, passwordsIn, verifyCertificate } from './driver.ts'

const call = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: 'This must be an http:// or https:// address.' })
    .describe('The address. The length of the firing replaces `{seconds}` in it, in the body and in headers.'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: z.record(z.string().regex(/^[\w-]{1,100}$/), z.string().max(1_000)).default({}),
  body: z.string().max(10_000).optional(),
  expect: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Text that the answer must contain, in addition to a status of 200 to 299.'),
})
type Call = z.output<typeof call>

const states = call.pick({ headers: true }).extend({
  url: z.url({ protocol: /^https?$/, error: 'This must be an http:// or https:// address.' }).describe('The address.'),
  on: z.string().min(1).max(200).describe('Text that the answer contains only while it is on.'),
  off: z.string().min(1).max(200).describe('Text that the answer contains only while it is off.'),
})
/** Between two questions for the state. */
const ASK_AGAIN_MS = 200

export const driver = driverType({
  name: 'http',
  summary: 'Anything that one HTTP request switches on and another one off.',
  settings: {
    on: call.describe('The request that switches on.'),
    off: call.describe(
      'The request that switches off. Without `state` the device must take it at any time, also when it is off.',
    ),
    state: states.optional().describe('Where the device tells its state; when left out, its answers count.'),
    verifyCertificate,
  },
  secrets: ({ on, off, state }) => [on, off, ...(state ? [state] : [])].flatMap(secretsOf),
  open({ on, off, state, verifyCertificate }) {
    async function send({ url, method, headers, body, expect }: Call, seconds: number, signal: AbortSignal) {
      const fill = (text: string) => text.replaceAll('{seconds}', String(seconds))
      const answer = await callDevice({
        url: fill(url.replaceAll('%7Bseconds%7D', '{seconds}')),
        method,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
        ...(body !== undefined && { body: fill(body) }),
        signal,
        verifyCertificate,
      })
      if (answer.status < 200 || answer.status > 299) throw new DeviceRefusal(`the device answered ${answer.status}`)
      if (expect !== undefined && !answer.text.includes(expect))
        throw new DeviceRefusal('the answer does not contain the expected text')
      return `${answer.status} ${answer.text}`.trim()
    }
    async function becomes(wanted: 'on' | 'off', signal: AbortSignal): Promise<string> {
      for (;;) {
        const { url, headers } = state!
        const { status, text } = await callDevice({ url, headers, signal, verifyCertificate })
        if (status === 200 && text.includes(state![wanted])) return `the device says ${wanted}`
        await sleep(ASK_AGAIN_MS, undefined, { signal })
      }
    }

    return {
      async on(seconds, signal) {
        const answer = await send(on, seconds, signal)
        return state ? becomes('on', signal) : answer
      },
      async off(signal) {
        try {
          const answer = await send(off, 0, signal)
          if (!state) return answer
        } catch (error) {
          // It may refuse because it is off already.
          if (!state || !(error instanceof DeviceRefusal)) throw error
        }
        return becomes('off', signal)
      },
    }
  },
})

/** Each word of a header, since a device may repeat a token without its scheme. Long parts of a path may be keys. */
function secretsOf({ url, headers, body }: Pick<Call, 'url' | 'headers'> & Partial<Call>): string[] {
  const { pathname, searchParams } = new URL(url)
  const keys = pathname.split('/').filter((part) => part.length >= 16)
  const words = Object.values(headers).flatMap((value) => [value, ...value.split(/\s/)])
  const texts = [...passwordsIn(url), ...searchParams.values(), ...words, ...keys, body ?? '']
  return texts.filter((text) => text.length >= 8)
}
