/** What each call of the local API does. */
import { Readable } from 'node:stream'
import type { Detection, Heartbeat } from '@hedgerow/contract'
import type { z } from 'zod'
import type { DetectionRecord } from '../detections/record.ts'
import type { Deterrents } from '../deterrents/deterrents.ts'
import type { GatewayState } from '../gateway-state.ts'
import { inWords } from '../hub/failure.ts'
import { jpegSize } from '../jpeg.ts'
import type { Clip, Pictures } from '../sources/source.ts'
import type { DeviceReport, localCalls } from './calls.ts'
import { Refusal } from './request.ts'

export type HandlersOptions = {
  /** Resolves when they are on disk. */
  report(detections: readonly Detection[]): Promise<void>
  setStatus(status: DeviceReport): void
  /** The states of all parts of the device. */
  parts(): Pick<Heartbeat, 'armed' | 'cameras' | 'detectors' | 'deterrents' | 'problems'>
  record: Pick<DetectionRecord, 'find' | 'recent'>
  pictures: Pictures
  deterrents: Pick<Deterrents, 'fire' | 'stop' | 'arm' | 'disarm' | 'isArmed' | 'list'>
  /** What only the connection to the hub knows. */
  hub(): Pick<GatewayState, 'gatewayId' | 'detectionsWaiting' | 'conditions'>
  version: string
}

type Calls = typeof localCalls
type CallName = keyof Calls
export type FileCall = { [N in CallName]: Calls[N] extends { media: string } ? N : never }[CallName]
type JsonCall = Exclude<CallName, FileCall>
type OutputOf<N extends CallName, Key extends string> =
  Calls[N] extends Record<Key, infer S extends z.ZodType> ? z.output<S> : undefined
type Handler<N extends JsonCall> = (input: {
  params: string[]
  query: OutputOf<N, 'query'>
  body: OutputOf<N, 'body'>
}) => OutputOf<N, 'response'> | Promise<OutputOf<N, 'response'>>

type Handlers = {
  json: { [N in JsonCall]: Handler<N> }
  files: Record<FileCall, (id: string, wanted: FileWanted) => Promise<Clip>>
}

export type FileWanted = {
  height?: number | undefined
  boxed?: 'true' | 'false' | undefined
  range?: string
  signal: AbortSignal
}

const PROGRAM = { kind: 'program' } as const

export function createHandlers(options: HandlersOptions): Handlers {
  const { record, pictures, deterrents } = options

  function detectionOf(id: string): Detection {
    const found = record.find(id)
    if (!found) throw new Refusal('detection_not_found')
    return found
  }

  function knownDeterrent([name]: string[]): string {
    const found = deterrents.list().find((deterrent) => deterrent.name === name)
    if (!found) throw new Refusal('deterrent_not_found')
    return found.name
  }

  return {
    json: {
      async reportDetections({ body: { detections } }) {
        refuseBrokenPictures(detections)
        await options.report(detections.map((each) => ({ ...each, source: 'api' })))
        return { accepted: detections.length }
      },
      listDetections: ({ query: { since, before, ...filter } }) => ({
        detections: record.recent({ ...filter, since: instant(since), before: instant(before) }),
      }),
      listCameras: () => ({ cameras: options.parts().cameras }),
      async fireDeterrent({ params, body: { seconds } }) {
        const answer = await deterrents.fire({ deterrent: knownDeterrent(params), seconds, by: PROGRAM })
        if ('refused' in answer) throw new Refusal('not_fired', { message: answer.message, reason: answer.refused })
        return answer
      },
      async stopDeterrent({ params }) {
        await deterrents.stop(knownDeterrent(params), PROGRAM)
        return {}
      },
      async arm() {
        await deterrents.arm(PROGRAM)
        return { armed: deterrents.isArmed() }
      },
      async disarm() {
        await deterrents.disarm(PROGRAM)
        return { armed: deterrents.isArmed() }
      },
      getStatus: () => ({
        version: options.version,
        ...options.hub(),
        ...options.parts(),
        armed: deterrents.isArmed(),
      }),
      putStatus({ body }) {
        options.setStatus(body)
        return {}
      },
    },
    files: {
      readLatest: (name, { height, signal }) =>
        picture(pictures.latest(name, { ...(height !== undefined && { height }), signal })),
      readSnapshot: (id, { boxed, signal }) =>
        picture(pictures.snapshot(detectionOf(id), { boxed: boxed === 'true', signal })),
      readClip: async (id, { range, signal }) =>
        found(await orFailure(pictures.clip(detectionOf(id), { ...(range !== undefined && { range }), signal }))),
    },
  }
}

function instant(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time)
}

/** The record and the hub would have to leave them out: the program gets to know it. */
function refuseBrokenPictures(detections: readonly Detection[]): void {
  const broken = detections.flatMap(({ thumbnail }, index) =>
    thumbnail === undefined || jpegSize(Buffer.from(thumbnail, 'base64')) ? [] : [index],
  )
  if (broken.length === 0) return
  const fields = broken.slice(0, 20).map((index) => [`detections.${index}.thumbnail`, 'This is not a whole JPEG.'])
  throw new Refusal('invalid_request', { fieldErrors: Object.fromEntries(fields) as Record<string, string> })
}

async function picture(asked: Promise<Buffer | undefined>): Promise<Clip> {
  const jpeg = found(await orFailure(asked))
  const headers = { 'content-type': 'image/jpeg', 'content-length': String(jpeg.length) }
  return { status: 200, headers, body: Readable.from([jpeg]) }
}

async function orFailure<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw new Refusal('camera_failed', { message: inWords(error) })
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Refusal('no_picture')
  return value
}
