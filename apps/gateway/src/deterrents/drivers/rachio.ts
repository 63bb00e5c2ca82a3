import { z } from 'zod'
import { callDevice } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType } from './driver.ts'

export const driver = driverType({
  name: 'rachio',
  summary: 'A zone of a Rachio controller, through its cloud. It ends each firing itself.',
  settings: {
    token: z.string().min(1).max(500).describe('The API key of the account.'),
    zone: z.string().min(1).max(100).describe("The zone's id."),
    device: z.string().min(1).max(100).describe("The controller's id. Switching off stops all of its zones."),
    address: deviceAddress.default('https://api.rach.io').describe('The address of the cloud.'),
  },
  answerMs: 15_000,
  secrets: ({ token }) => [token],
  open({ token, zone, device, address }) {
    async function put(path: string, body: object, signal: AbortSignal): Promise<string> {
      const { status } = await callDevice({
        url: new URL(`/1/public/${path}`, address),
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      })
      if (status === 200 || status === 204) return `the cloud answered ${status}`
      throw new DeviceRefusal(STATUSES[status] ?? `the cloud answered ${status}`)
    }

    return {
      on: (seconds, signal) => put('zone/start', { id: zone, duration: seconds }, signal),
      off: (signal) => put('device/stop_water', { id: device }, signal),
    }
  },
})

const STATUSES: Readonly<Record<number, string>> = {
  401: 'the cloud refused the API key',
  404: 'the cloud does not know the zone or the controller',
  429: "the account's calls of this day are used up",
}
