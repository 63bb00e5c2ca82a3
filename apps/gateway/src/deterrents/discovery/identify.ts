/** Asks a web interface what it is, by questions that switch nothing and take no password. */
import { z } from 'zod'
import { callDevice, jsonOf } from '../drivers/device-call.ts'

export type Identity = {
  /** Undefined for a device that no driver can switch by its address alone. */
  driver: string | undefined
  /** What the device calls itself. */
  title: string
  needsPassword: boolean
  /** For people. */
  note: string | undefined
}

type Question = { path: string; read(answer: unknown): Identity | undefined }

const ANSWER_MS = 1_500
const TITLE_MAX = 100

const text = z.string().nullish()

/** shelly-api-docs.shelly.cloud: gen2/ComponentsAndServices/Shelly#http-endpoint-shelly, gen1/#shelly */
const shelly = z.object({
  mac: z.string(),
  gen: z.number().optional(),
  type: text,
  name: text,
  id: text,
  model: text,
  auth: z.boolean().optional(),
  auth_en: z.boolean().optional(),
})

/** A question that the other devices answer with 404. */
const QUESTIONS: readonly Question[] = [
  {
    path: '/shelly',
    read(answer) {
      const { data } = shelly.safeParse(answer)
      if (!data) return undefined
      const isSecond = (data.gen ?? 1) >= 2
      return {
        driver: isSecond ? 'shelly' : undefined,
        title: [data.name ?? data.id ?? 'Shelly', data.model ?? data.type].filter(Boolean).join(', '),
        needsPassword: data.auth_en ?? data.auth ?? false,
        note: isSecond ? undefined : 'A Shelly of the first generation. Write it as `http` under Configuration.',
      }
    },
  },
  {
    // Without the right password it tells its version alone (opensprinkler_server.cpp:2395 of 49b0e8a).
    path: '/jo',
    read(answer) {
      const { data } = z.object({ fwv: z.number() }).safeParse(answer)
      if (!data) return undefined
      const version = [...String(data.fwv)].join('.')
      return { driver: 'opensprinkler', title: `OpenSprinkler ${version}`, needsPassword: true, note: undefined }
    },
  },
  {
    // xdrv_01_9_webserver.ino, HandleHttpCommand
    path: '/cm?cmnd=Status',
    read(answer) {
      if (/user=.*password=/.test(z.object({ WARNING: z.string() }).safeParse(answer).data?.WARNING ?? ''))
        return { driver: 'tasmota', title: 'Tasmota', needsPassword: true, note: undefined }
      const names = { DeviceName: text, FriendlyName: z.array(z.string()).optional() }
      const status = z.object({ Status: z.object({ Power: z.unknown(), ...names }) }).safeParse(answer).data?.Status
      if (!status) return undefined
      const name = status.DeviceName || status.FriendlyName?.[0]
      return { driver: 'tasmota', title: name ? `Tasmota, ${name}` : 'Tasmota', needsPassword: false, note: undefined }
    },
  },
]

/** Undefined for everything else, and for what does not answer. */
export async function identify(address: string, signal: AbortSignal): Promise<Identity | undefined> {
  for (const { path, read } of QUESTIONS) {
    const answer = await callDevice({
      url: new URL(path, address),
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    }).catch(() => undefined)
    if (signal.aborted || !answer) return undefined
    const found = read(jsonOf(answer.text))
    if (found) return { ...found, title: found.title.slice(0, TITLE_MAX) }
  }
  return undefined
}
