import { join } from 'node:path'
import type { Heartbeat } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { watchDeviceFile, type WatchedDeviceFile } from './device-file/device-file.ts'
import { createIntake, type Intake } from './detections/intake.ts'
import { openRecord, type DetectionRecord } from './detections/record.ts'
import { openDetectionQueue, type DetectionQueue } from './hub/detection-queue.ts'
import type { DeviceReport } from './local-api/calls.ts'
import { createSources, type Sources } from './sources/sources.ts'

type DeviceParts = Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'problems'>

/** The device's parts that work without a hub: `gateway.yaml`, the sources and the intake of their detections. */
export type Device = {
  file: WatchedDeviceFile
  queue: DetectionQueue
  /** Recent detections with their pictures. */
  record: DetectionRecord
  intake: Intake
  sources: Sources
  /** Sets what the owner's programs report, in addition to the device's own parts. */
  setProgramStatus(status: DeviceReport): void
  /** The parts' states for the heartbeat, at most as many of each as the contract allows. */
  parts(): DeviceParts
}

const RECORD_FILE = 'record.sqlite'
const MAXIMA = { cameras: 64, detectors: 16, deterrents: 64, problems: 32 } as const

/** Adds to `life` all that must stop with the device. Rejects with DataFileError or the disk's error. */
export async function openDevice(
  options: { dataDir: string; filePath: string; log: Logger },
  life: AsyncDisposableStack,
): Promise<Device> {
  const { dataDir, log } = options
  const queue = await openDetectionQueue(join(dataDir, 'detections'), log)
  life.defer(() => queue.close())
  const file = await watchDeviceFile(options.filePath, { log })
  life.defer(file.stop)
  const record = openRecord(join(dataDir, RECORD_FILE), { settings: () => file.current().record, log, clock: Date.now })
  life.defer(record.close)
  const intake = createIntake({ queue, record, log })
  const sources = createSources({ log, dataDir, clock: Date.now, report: intake.report })
  life.defer(sources.stop)
  let programStatus: DeviceReport = {}
  file.onChange((changed) => void sources.apply(changed))
  await sources.apply(file.current())

  function parts(): DeviceParts {
    const own = sources.state()
    const { cameras = [], detectors = [], deterrents = [], problems = [] } = programStatus
    return {
      cameras: [...own.cameras, ...cameras].slice(0, MAXIMA.cameras),
      detectors: [...own.detectors, ...detectors].slice(0, MAXIMA.detectors),
      deterrents: deterrents.slice(0, MAXIMA.deterrents),
      problems: [...file.problems(), ...own.problems, ...problems].slice(0, MAXIMA.problems),
    }
  }

  return {
    file,
    queue,
    record,
    intake,
    sources,
    setProgramStatus(status) {
      programStatus = { ...programStatus, ...status }
    },
    parts,
  }
}
