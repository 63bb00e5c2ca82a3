import { z } from 'zod'
import { callDevice, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType } from './driver.ts'

export const driver = driverType({
  name: 'hydrawise',
  summary: 'A zone of a Hydrawise controller, through its cloud. It ends each firing itself.',
  settings: {
    apiKey: z.string().min(1).max(200).describe('The API key of the account.'),
    relay: z.number().int().min(1).describe("The zone's `relay_id`."),
    address: deviceAddress.default('https://api.hydrawise.com').describe('The address of the cloud.'),
  },
  answerMs: 15_000,
  secrets: ({ apiKey }) => [apiKey],
  open({ apiKey, relay, address }) {
    async function set(parameters: Record<string, string>, signal: AbortSignal): Promise<string> {
      const url = new URL('/api/v1/setzone.php', address)
      url.search = new URLSearchParams({ api_key: apiKey, relay_id: String(relay), ...parameters }).toString()
      const answer = await callDevice({ url, signal })
      if (answer.status === 429) throw new DeviceRefusal('the cloud takes no more calls for now')
      if (answer.status === 401 || answer.status === 403) throw new DeviceRefusal('the cloud refused the API key')
      const read = readAnswer(
        answer,
        z.object({
          message_type: z.string().optional(),
          message: z.string().optional(),
          error_msg: z.string().optional(),
        }),
      )
      if (read.message_type === 'info') return read.message ?? 'done'
      throw new DeviceRefusal(read.error_msg ?? read.message ?? 'the cloud did not say that it is done')
    }

    return {
      on: (seconds, signal) => set({ action: 'run', custom: String(seconds), period_id: '999' }, signal),
      off: (signal) => set({ action: 'stop' }, signal),
    }
  },
})
