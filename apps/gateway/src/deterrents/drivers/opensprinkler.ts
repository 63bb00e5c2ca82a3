import { createHash } from 'node:crypto'
import { z } from 'zod'
import { callDevice, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate } from './driver.ts'

export const driver = driverType({
  name: 'opensprinkler',
  summary: 'A station of an OpenSprinkler. It ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.23:8080`.'),
    password: z.string().min(1).max(200).describe("The device's password."),
    station: z.number().int().min(1).max(200).describe('The number of the station as the device shows it, from 1.'),
    verifyCertificate,
  },
  secrets: ({ password }) => [password, md5(password)],
  open({ address, password, station, verifyCertificate }) {
    async function set(parameters: Record<string, string>, signal: AbortSignal): Promise<string> {
      const url = new URL('/cm', address)
      url.search = new URLSearchParams({ pw: md5(password), sid: String(station - 1), ...parameters }).toString()
      const answer = await callDevice({ url, signal, verifyCertificate })
      const { result } = readAnswer(answer, z.object({ result: z.number() }))
      if (result === 1) return 'result 1'
      throw new DeviceRefusal(RESULTS[result] ?? `the device answered result ${result}`)
    }

    return {
      on: (seconds, signal) => set({ en: '1', t: String(seconds) }, signal),
      off: (signal) => set({ en: '0' }, signal),
    }
  },
})

const RESULTS: Readonly<Record<number, string>> = {
  2: 'the device refused the password',
  16: 'the device says that a value is missing',
  17: 'the device has no such station',
  48: 'the device does not permit it',
}

/** The device's own way to send a password. */
function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
