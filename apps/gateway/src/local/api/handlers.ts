/** The handlers of the local API. */
import type { Detection, DeviceUpdates, Heartbeat } from '@hedgerow/contract'
import type { DeviceReport, localCalls } from '@hedgerow/contract/local-api'
import type { Handlers } from '../../calls/dispatcher.ts'
import { Refusal } from '../../calls/errors.ts'
import { createParts, type PartsOptions } from '../../calls/parts.ts'
import type { GatewayState } from '../../hub/gateway-state.ts'
import type { Download } from '../../hub/tunnel-download.ts'
import { inWords } from '../../kernel/failure.ts'
import { jpegSize } from '../../kernel/jpeg.ts'
import type { Learning } from '../../learning/learning.ts'
import { releasedName } from '../../models/package.ts'
import { modelName } from '../../models/schema.ts'
import type { Updates } from '../../update/updates.ts'

export type HandlersOptions = PartsOptions & {
  /** Resolves when they are on disk. */
  report(detections: readonly Detection[]): Promise<void>
  setStatus(status: DeviceReport): void
  /** The states of all parts of the device. */
  parts(): Pick<Heartbeat, 'armed' | 'cameras' | 'detectors' | 'deterrents' | 'problems'>
  learning: Pick<Learning, 'report' | 'begin' | 'undo'>
  /** The part of the state that only the connection to the hub knows. */
  hub(): Pick<GatewayState, 'hubUrl' | 'gatewayId' | 'detectionsWaiting' | 'conditions'>
  updates(): DeviceUpdates
  goBack: Updates['goBack']
  /** Opens a file that the hub hands out. */
  download: Download
  version: string
}

const PROGRAM = { kind: 'program' } as const

export function createHandlers(options: HandlersOptions): Handlers<typeof localCalls, void> {
  const { record, deterrents, learning } = options
  const parts = createParts(options)
  const setStatus = ({ body }: { body: DeviceReport }) => {
    options.setStatus(body)
    return {}
  }

  return {
    async reportDetections({ body: { detections } }) {
      refuseBrokenPictures(detections)
      await options.report(detections.map((each) => ({ ...each, source: 'api' })))
      return { accepted: detections.length }
    },
    listDetections: ({ query: { since, before, ...filter } }) => ({
      detections: record.recent({ ...filter, since: instant(since), before: instant(before) }),
    }),
    listCameras: () => ({ cameras: options.parts().cameras }),
    readLatest: ({ params: { name }, query: { height }, signal }) => parts.latest(name, { height, signal }),
    readSnapshot: ({ params: { id }, query: { boxed }, signal }) =>
      parts.snapshot(id, { boxed: boxed === 'true', signal }),
    readClip: ({ params: { id }, ...wanted }) => parts.clip(id, wanted),
    fireDeterrent: ({ params: { name }, body: { seconds } }) => parts.fire(name, seconds, PROGRAM),
    async stopDeterrent({ params: { name } }) {
      await parts.stop(name, PROGRAM)
      return {}
    },
    arm: () => parts.arm(PROGRAM),
    disarm: () => parts.disarm(PROGRAM),
    getStatus: () => ({
      version: options.version,
      ...options.hub(),
      updates: options.updates(),
      ...options.parts(),
      armed: deterrents.isArmed(),
    }),
    patchStatus: setStatus,
    putStatus: setStatus,
    getLearning: () => learning.report(),
    learnNow() {
      learning.begin()
      return {}
    },
    async readModel({ params: { name }, signal }) {
      const wanted = modelName.safeParse(name).data
      if (wanted === undefined) throw new Refusal('not_found')
      const body = await options.download(releasedName(wanted), { from: 0, signal }).catch((error: unknown) => {
        throw new Refusal('not_found', { message: inWords(error) })
      })
      return { status: 200, headers: { 'content-type': 'application/gzip' }, body }
    },
    async goBack() {
      const rollback = await options.goBack()
      if ('problem' in rollback) throw new Refusal('no_way_back', { message: rollback.problem })
      return rollback
    },
    undoLearning: ({ body }) => ({ undone: learning.undo(body, 'the device') }),
  }
}

function instant(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time)
}

/** The record and the hub would drop these pictures, so the program gets an error instead. */
function refuseBrokenPictures(detections: readonly Detection[]): void {
  const broken = detections.flatMap(({ thumbnail }, index) =>
    thumbnail === undefined || jpegSize(Buffer.from(thumbnail, 'base64')) ? [] : [index],
  )
  if (broken.length === 0) return
  const fields = broken.slice(0, 20).map((index) => [`detections.${index}.thumbnail`, 'This is not a whole JPEG.'])
  throw new Refusal('invalid_request', { fieldErrors: Object.fromEntries(fields) as Record<string, string> })
}
