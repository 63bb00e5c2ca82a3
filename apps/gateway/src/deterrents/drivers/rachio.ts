import { z } from 'zod'
import { callDevice, jsonOf, readAnswer } from './device-call.ts'
import { deviceAddress, DeviceRefusal, driverType, SECRET } from './driver.ts'

export const driver = driverType({
  name: 'rachio',
  summary: 'A zone of a Rachio controller, through its cloud. It ends each firing itself.',
  settings: {
    token: z.string().min(1).max(500).meta(SECRET).describe('The API key of the account.'),
    zone: z.string().min(1).max(100).describe("The zone's id."),
    device: z.string().min(1).max(100).describe("The controller's id. Ending a firing stops all of its zones."),
    address: deviceAddress.default('https://api.rach.io').describe('The address of the cloud.'),
  },
  anyOutput: { zone: 'any', device: 'any' },
  answerMs: 15_000,
  secrets: ({ token }) => [token],
  open({ token, zone, device, address }) {
    /** It may run a firing of ours that the cloud does not show yet. */
    let mayBeOurs = false

    function call(method: 'GET' | 'PUT', path: string, body: object | undefined, signal: AbortSignal) {
      return callDevice({
        url: new URL(`/1/public/${path}`, address),
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal,
      })
    }

    async function put(path: string, body: object, signal: AbortSignal): Promise<string> {
      const { status } = await call('PUT', path, body, signal)
      if (status === 200 || status === 204) return `the cloud took it (${status})`
      throw new DeviceRefusal(STATUSES[status] ?? `the cloud answered ${status}`)
    }

    /** The zone that the controller waters; null for none, and undefined when the cloud does not say. */
    async function watered(signal: AbortSignal): Promise<string | null | undefined> {
      const answer = await call('GET', `device/${encodeURIComponent(device)}/current_schedule`, undefined, signal)
      if (answer.status === 401) throw new DeviceRefusal(STATUSES[401]!)
      if (answer.status !== 200) return undefined
      const { data } = schedule.safeParse(jsonOf(answer.text))
      return data && (data.zoneId ?? (Object.keys(data).length === 0 ? null : undefined))
    }

    return {
      async on(seconds, signal) {
        mayBeOurs = true
        try {
          return await put('zone/start', { id: zone, duration: seconds }, signal)
        } catch (error) {
          mayBeOurs = !(error instanceof DeviceRefusal)
          throw error
        }
      },
      /** Stopping stops all zones, also those of the owner's schedules, so it is done only when this one may run. */
      async off(signal) {
        const running = mayBeOurs ? zone : await watered(signal)
        if (running === null) return 'it is off: the cloud says that nothing runs'
        if (running !== undefined && running !== zone) return 'it is off: another zone runs, and goes on'
        const answer = await put('device/stop_water', { id: device }, signal)
        mayBeOurs = false
        return answer
      },
      async outputs(signal) {
        const read = async <S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> => {
          const answer = await call('GET', path, undefined, signal)
          if (answer.status !== 200) throw new DeviceRefusal(STATUSES[answer.status] ?? 'the cloud does not answer')
          return readAnswer(answer, schema)
        }
        const { id: person } = await read('person/info', z.object({ id: z.string() }))
        const { devices } = await read(`person/${encodeURIComponent(person)}`, account)
        return devices.flatMap(({ id: controller, name, zones }) =>
          zones.map((each) => ({
            name: `${name}, ${each.name}`,
            isOn: undefined,
            settings: { device: controller, zone: each.id },
          })),
        )
      },
    }
  },
})

/** `{}` while nothing runs (valiquette/homebridge-rachio-irrigation, rachioapi.ts:338 and rachioplatform.ts:971). */
const schedule = z.looseObject({ zoneId: z.string().optional() })

/** rachio.readme.io/reference/get-person-id */
const zones = z.array(z.object({ id: z.string(), name: z.string() }))
const account = z.object({ devices: z.array(z.object({ id: z.string(), name: z.string(), zones })) })

const STATUSES: Readonly<Record<number, string>> = {
  401: 'the cloud refused the API key',
  404: 'the cloud does not know the zone or the controller',
  429: "the account's calls of this day are used up",
}
