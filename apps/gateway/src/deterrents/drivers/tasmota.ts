import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { callDevice, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, verifyCertificate, SECRET } from './driver.ts'

/** `Backlog` runs its commands after the answer, so the state is asked for at this interval until it has changed. */
const ASK_AGAIN_MS = 50

export const driver = driverType({
  name: 'tasmota',
  summary: 'A device with Tasmota. It ends each firing itself, by its `PulseTime`, which stays set on the device.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.22`.'),
    relay: z.number().int().min(1).max(32).default(1).describe('The number of the relay, from 1.'),
    password: z
      .string()
      .max(200)
      .optional()
      .meta(SECRET)
      .describe('Only for a device with a web password; the user is `admin`.'),
    verifyCertificate,
  },
  anyOutput: { relay: 1 },
  secrets: ({ password }) => [password, password === undefined ? undefined : encodeURIComponent(password)],
  open({ address, relay, password, verifyCertificate }) {
    async function command(text: string, signal: AbortSignal) {
      const url = new URL('/cm', address)
      if (password !== undefined) {
        url.searchParams.set('user', 'admin')
        url.searchParams.set('password', password)
      }
      url.searchParams.set('cmnd', text)
      const answer = await callDevice({ url, signal, verifyCertificate })
      if (answer.status === 401) throw new DeviceRefusal('the device refused the password')
      const read = readAnswer(answer, z.record(z.string(), z.unknown()))
      if ('WARNING' in read) throw new DeviceRefusal('the device refused the password')
      if (read['Command'] === 'Unknown') throw new DeviceRefusal('the device does not know the relay')
      return read
    }

    /** `StateText1` and `StateText2` replace OFF and ON. */
    async function ownWordFor(state: 'ON' | 'OFF', reported: string, signal: AbortSignal): Promise<unknown> {
      if (/^(on|off)$/i.test(reported)) return undefined
      const setting = state === 'OFF' ? 'StateText1' : 'StateText2'
      return (await command(setting, signal))[setting]
    }

    async function becomes(state: 'ON' | 'OFF', signal: AbortSignal): Promise<string> {
      for (;;) {
        const answer = await command(`Power${relay}`, signal)
        // A device with one relay leaves its number out.
        const reported = answer[`POWER${relay}`] ?? (relay === 1 ? answer['POWER'] : undefined)
        if (typeof reported !== 'string') throw new DeviceRefusal('the device does not know the relay')
        if (reported.toUpperCase() === state || reported === (await ownWordFor(state, reported, signal)))
          return `it said ${reported}`
        await sleep(ASK_AGAIN_MS, undefined, { signal })
      }
    }

    return {
      async on(seconds, signal) {
        await command(`Backlog PulseTime${relay} ${pulseTime(seconds)};Power${relay} 1`, signal)
        return becomes('ON', signal)
      },
      async off(signal) {
        await command(`Power${relay} 0`, signal)
        return becomes('OFF', signal)
      },
      async outputs(signal) {
        const { data } = everything.safeParse(await command('Status 0', signal))
        if (!data) throw new DeviceRefusal("the device's answer is not understood")
        const states = Object.entries(data.StatusSTS).flatMap(([key, state]) => {
          const number = /^POWER(\d*)$/.exec(key)?.[1]
          return number === undefined ? [] : [[Number(number || 1), state] as const]
        })
        return states.map(([number, state]) => ({
          name: data.Status.FriendlyName?.[number - 1] ?? '',
          // `StateText` may replace the words.
          isOn: state === 'ON' ? true : state === 'OFF' ? false : undefined,
          settings: { relay: number },
        }))
      },
    }
  },
})

/** `Status 0`: `StatusSTS` has `POWER` or `POWER1`, `POWER2`, … for each relay. */
const everything = z.object({
  Status: z.object({ FriendlyName: z.array(z.string()).optional() }),
  StatusSTS: z.record(z.string(), z.unknown()),
})

/** The value of `PulseTime`: tenths of a second up to 11.1 s, and 100 plus the seconds for longer times. */
function pulseTime(seconds: number): number {
  return seconds <= 11 ? seconds * 10 : seconds + 100
}
