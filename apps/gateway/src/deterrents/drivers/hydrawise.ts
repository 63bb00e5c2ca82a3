import { z } from 'zod'
import { callDevice, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, SECRET } from './driver.ts'

export const driver = driverType({
  name: 'hydrawise',
  summary: 'A zone of a Hydrawise controller, through its cloud. It ends each firing itself.',
  settings: {
    apiKey: z.string().min(1).max(200).meta(SECRET).describe('The API key of the account.'),
    relay: z.number().int().min(1).describe("The zone's `relay_id`."),
    address: deviceAddress.default('https://api.hydrawise.com').describe('The address of the cloud.'),
  },
  anyOutput: { relay: 1 },
  answerMs: 15_000,
  secrets: ({ apiKey }) => [apiKey],
  open({ apiKey, relay, address }) {
    async function call<S extends z.ZodType>(
      page: string,
      parameters: Record<string, string>,
      schema: S,
      signal: AbortSignal,
    ): Promise<z.output<S>> {
      const url = new URL(`/api/v1/${page}`, address)
      url.search = new URLSearchParams({ api_key: apiKey, ...parameters }).toString()
      const answer = await callDevice({ url, signal })
      if (answer.status === 429) throw new DeviceRefusal('the cloud takes no more calls for now')
      if (answer.status === 401 || answer.status === 403) throw new DeviceRefusal('the cloud refused the API key')
      return readAnswer(answer, schema)
    }

    async function set(parameters: Record<string, string>, signal: AbortSignal): Promise<string> {
      const read = await call('setzone.php', { relay_id: String(relay), ...parameters }, outcome, signal)
      if (read.message_type === 'info') return `the cloud took it: ${read.message ?? 'done'}`
      throw new DeviceRefusal(read.error_msg ?? read.message ?? 'the cloud did not say that it is done')
    }

    /** The cloud may refuse to stop a zone that does not run: `time` is 1 for one that does. */
    async function isOff(signal: AbortSignal): Promise<boolean> {
      const { relays } = await call('statusschedule.php', {}, schedule, signal)
      const own = relays.find(({ relay_id: id }) => id === relay)
      return own !== undefined && own.time !== 1
    }

    return {
      on: (seconds, signal) => set({ action: 'run', custom: String(seconds), period_id: '999' }, signal),
      async off(signal) {
        try {
          return await set({ action: 'stop' }, signal)
        } catch (error) {
          const isSo = error instanceof DeviceRefusal && (await isOff(signal).catch(() => false))
          if (!isSo) throw error
          return 'it is off, says the cloud'
        }
      },
      async outputs(signal) {
        const { relays } = await call('statusschedule.php', {}, schedule, signal)
        return relays.map(({ relay_id: id, name = '', time }) => ({ name, isOn: time === 1, settings: { relay: id } }))
      },
    }
  },
})

const outcome = z.object({
  message_type: z.string().optional(),
  message: z.string().optional(),
  error_msg: z.string().optional(),
})
const schedule = z.object({
  relays: z.array(z.object({ relay_id: z.number(), name: z.string().optional(), time: z.number() })),
})
