import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { callDevice, jsonOf, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, NeverOn, verifyCertificate, SECRET } from './driver.ts'

const LOOK_AGAIN_MS = 400
/** The controller takes up once a second what it was asked; before, it answers 17 for a station that waits. */
const TAKEN_UP_MS = 2_500
/** A station that waits longer behind others has not fired. */
const STARTS_WITHIN_MS = 5_000
const OFF_WITHIN_MS = 10_000
/** The program of a station that was switched on by itself, by us or in the app; others are the owner's programs. */
const BY_HAND = 99

const [DONE, WRONG_PASSWORD, NOT_IN_QUEUE] = [1, 2, 17]

/** `program` is 0 for a station that is in no queue, and undefined when the controller does not say. */
type Station = { isRunning: boolean; program: number | undefined; startsInMs: number | undefined }

const resultOnly = z.object({ result: z.number() })
/**
 * `/jc`. `sbits` has 8 stations each; `ps` has program, rest, start (since firmware 2.1.1) and group of each station.
 */
const controller = z.object({ devt: z.number(), sbits: z.array(z.number()), ps: z.array(z.array(z.number()).min(2)) })
/** `/jn` */
const names = z.object({ snames: z.array(z.string()) })
/** `/js` */
const stations = z.object({ sn: z.array(z.number()) })

export const driver = driverType({
  name: 'opensprinkler',
  summary: 'A station of an OpenSprinkler. It ends each firing itself.',
  settings: {
    address: deviceAddress.describe('Such as `http://192.168.1.23:8080`.'),
    password: z.string().min(1).max(200).meta(SECRET).describe("The device's password."),
    station: z.number().int().min(1).max(200).describe('The number of the station as the device shows it, from 1.'),
    verifyCertificate,
  },
  anyOutput: { station: 1 },
  answerMs: 15_000,
  secrets: ({ password }) => [password, md5(password)],
  open({ address, password, station, verifyCertificate }) {
    const index = station - 1
    /** When the controller was last asked to switch on. */
    let requestedAt = -Infinity

    function call(path: string, parameters: Record<string, string>, signal: AbortSignal) {
      const url = new URL(path, address)
      url.search = new URLSearchParams({ pw: md5(password), ...parameters }).toString()
      return callDevice({ url, signal, verifyCertificate })
    }

    async function change(parameters: Record<string, string>, signal: AbortSignal): Promise<number> {
      const answer = await call('/cm', { sid: String(index), ...parameters }, signal)
      const { result } = readAnswer(answer, resultOnly)
      if (result === WRONG_PASSWORD) throw new DeviceRefusal(inWords(result))
      return result
    }

    /** Undefined when the controller does not have this page. */
    async function read<S extends z.ZodType>(
      path: string,
      schema: S,
      signal: AbortSignal,
    ): Promise<z.output<S> | undefined> {
      const { text } = await call(path, {}, signal)
      const value = jsonOf(text)
      if (resultOnly.safeParse(value).data?.result === WRONG_PASSWORD) throw new DeviceRefusal(inWords(WRONG_PASSWORD))
      return schema.safeParse(value).data
    }

    /** Undefined when the controller does not say what its stations do. */
    async function look(signal: AbortSignal): Promise<Station | undefined> {
      const all = await read('/jc', controller, signal)
      const simple = all ? undefined : await read('/js', stations, signal)
      if ((all?.ps ?? simple?.sn ?? []).length <= index && (all ?? simple)) throw new DeviceRefusal(inWords(17))
      if (!all) return simple && { isRunning: simple.sn[index] === 1, program: undefined, startsInMs: undefined }
      const [program, , start] = all.ps[index]!
      const isRunning = (((all.sbits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1
      const startsInMs = start === undefined || start === 0 ? undefined : (start - all.devt) * 1_000
      return { isRunning, program, startsInMs }
    }

    /** Resolves once the station neither runs for us nor waits: what waits would water later, with nobody there. */
    async function off(signal: AbortSignal): Promise<string> {
      const until = performance.now() + OFF_WITHIN_MS
      let isToldBefore = false
      while (performance.now() < until) {
        const isTakenUp = performance.now() - requestedAt > TAKEN_UP_MS
        const { isRunning, program } = (await look(signal)) ?? { isRunning: false, program: undefined }
        if (program !== undefined && program !== 0 && program !== BY_HAND) {
          if (isTakenUp) return `it is off; program ${program} of the controller has the station, and goes on`
        } else {
          // Firmware before 2.2.1(3) must not be asked to stop what is not in its queue: it writes beside its memory.
          const mayBeOurs = isRunning || program !== 0
          const result = mayBeOurs ? await change({ en: '0' }, signal) : NOT_IN_QUEUE
          if (result !== DONE && result !== NOT_IN_QUEUE) throw new DeviceRefusal(inWords(result))
          // Where only `/cm` tells of the queue, some firmware answers 1 whatever is in it.
          const isGone = result === NOT_IN_QUEUE || (program === undefined && isToldBefore)
          if (isGone && !isRunning && isTakenUp) return 'it is off'
          isToldBefore = true
          if (result === DONE && (isRunning || program === BY_HAND)) requestedAt = -Infinity
        }
        await sleep(LOOK_AGAIN_MS, undefined, { signal })
      }
      throw new DeviceRefusal('the station still runs; a master station runs with others, and cannot be switched')
    }

    return {
      async on(seconds, signal) {
        requestedAt = performance.now()
        // `qo` (since 2.2.1(4)) lets it run before stations that wait, which then go on.
        const result = await change({ en: '1', t: String(seconds), qo: '1' }, signal)
        if (result !== DONE) {
          requestedAt = -Infinity
          throw new NeverOn(`not fired: ${inWords(result)}`)
        }
        // The supervisor ends a short firing before a longer wait is over.
        const waitsUntil = requestedAt + Math.min(STARTS_WITHIN_MS, (seconds - 1) * 1_000)
        let startsInMs: number | undefined
        do {
          const seen = await look(signal)
          if (!seen) return 'result 1; the controller does not say whether the station runs'
          if (seen.isRunning) return 'the station runs'
          startsInMs = seen.startsInMs
          if (performance.now() + (startsInMs ?? 0) > waitsUntil) break
          await sleep(LOOK_AGAIN_MS, undefined, { signal })
        } while (performance.now() < waitsUntil)
        await off(signal)
        const when = startsInMs === undefined || startsInMs <= 0 ? 'later' : `in ${startsInMs / 1_000} s`
        throw new NeverOn(`queued, not fired: the controller would have begun ${when}, and was told not to`)
      },
      off,
      async outputs(signal) {
        const known = await read('/jn', names, signal)
        if (!known) throw new DeviceRefusal("the device's answer is not understood")
        const running = (await read('/js', stations, signal))?.sn
        return known.snames.map((name, at) => ({
          name: name.trim(),
          isOn: running && running[at] === 1,
          settings: { station: at + 1 },
        }))
      },
    }
  },
})

const RESULTS: Readonly<Record<number, string>> = {
  [WRONG_PASSWORD]: 'the device refused the password',
  16: 'the device says that a value is missing',
  17: 'the device has no such station',
  48: 'the device does not permit it: the station is in its queue already, is a master station, or its queue is full',
}

function inWords(result: number): string {
  return RESULTS[result] ?? `the device answered result ${result}`
}

/** The device's own way to send a password. */
function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
