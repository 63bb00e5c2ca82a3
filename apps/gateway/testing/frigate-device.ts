import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import { startFrigate, type FrigateOptions, type TestFrigate } from '../../../test/harness/frigate.ts'
import { startMosquitto } from '../../../test/harness/mosquitto.ts'
import { waitFor } from '../../../test/harness/wait-for.ts'
import { openDevice, type Device } from '../src/device.ts'
import { startRelay, type Relay } from './relay.ts'

/** A whole device without a hub, with its rules and the relay of a horn, beside a Frigate. */
export type FrigateDevice = {
  frigate: TestFrigate
  device: Device
  horn: Relay
  /** The last state of each detection, oldest first. */
  detections(): Detection[]
  /** What was fired and refused, oldest first, as `boar rule fired` or `boar rule person_near`. */
  requests(): Promise<string[]>
  stop(): Promise<void>
}

export type FrigateDeviceOptions = {
  /** The rules of gateway.yaml. */
  rules: object[]
  /** More of the deterrent. */
  horn?: object
  /** More of `sources.frigate`. */
  settings?: object
  frigate?: FrigateOptions
  over?: 'websocket' | 'broker'
}

export async function startFrigateDevice(options: FrigateDeviceOptions): Promise<FrigateDevice> {
  const life = new AsyncDisposableStack()
  try {
    const frigate = await startFrigate(options.frigate)
    life.defer(() => frigate.stop())
    const horn = await startRelay()
    life.defer(() => horn.stop())
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-frigate-device-'))
    life.defer(() => rm(folder, { recursive: true, force: true }))
    let mqtt: object | undefined
    if (options.over === 'broker') {
      const broker = await startMosquitto()
      life.defer(() => broker.stop())
      await frigate.joinBroker(broker.url)
      mqtt = { url: broker.url }
    }
    const filePath = join(folder, 'gateway.yaml')
    const relay = { driver: 'http', on: { url: horn.onUrl }, off: { url: horn.offUrl } }
    const file = {
      sources: { frigate: { url: frigate.url, ...(mqtt && { mqtt }), ...options.settings } },
      deterrents: { horn: { ...relay, seconds: 1, maximumSeconds: 1, coolDownSeconds: 0, ...options.horn } },
      rules: options.rules,
    }
    // JSON is YAML.
    await writeFile(filePath, JSON.stringify(file))
    const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })
    const device = await openDevice({ dataDir: folder, filePath, log }, life)
    await waitFor(() => device.deterrents.list().every(({ state }) => state === 'ready'), { for: 'the horn' })
    const hasReviewRequest = () => frigate.requests.some(({ path }) => path.startsWith('/api/review?'))
    await waitFor(() => hasReviewRequest() && device.sources.state().cameras.length > 0, { for: 'the source' })
    return {
      frigate,
      device,
      horn,
      detections: () => device.record.recent({ limit: 1_000 }).toReversed(),
      async requests() {
        const entries = await device.deterrents.ledger({ limit: 200 })
        return entries.toReversed().flatMap((entry) => {
          const { by } = entry
          if (by?.kind !== 'rule' || (entry.kind !== 'fired' && entry.kind !== 'refused')) return []
          return [`${by.rule} ${entry.kind === 'fired' ? 'fired' : entry.code}`]
        })
      },
      stop: () => life.disposeAsync(),
    }
  } catch (error) {
    await life.disposeAsync()
    throw error
  }
}
