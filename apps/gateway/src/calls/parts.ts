/** Steps that several calls share. Each throws `Refusal`. */
import { Readable } from 'node:stream'
import { PICTURE_AGE_HEADER, type Detection, type DisarmTime, type SnoozeOrder } from '@hedgerow/contract'
import type { DetectionRecord } from '../detections/record.ts'
import type { Deterrents } from '../deterrents/deterrents.ts'
import type { Firing } from '../deterrents/interlock.ts'
import type { Asker } from '../deterrents/saved-state.ts'
import { inWords } from '../kernel/failure.ts'
import { ClipNotFinished, type Clip, type LatestPicture, type Pictures } from '../sources/source.ts'
import { Refusal } from './errors.ts'

type PicturesOptions = { record: Pick<DetectionRecord, 'find'>; pictures: Pictures }

export type PartsOptions = PicturesOptions & {
  record: Pick<DetectionRecord, 'recent' | 'objectsOf' | 'candidates'>
  deterrents: Pick<Deterrents, 'fire' | 'stop' | 'arm' | 'disarm' | 'snooze' | 'endSnooze' | 'isArmed' | 'list'>
}

export function createPictureParts({ record, pictures }: PicturesOptions) {
  function detectionOf(id: string): Detection {
    const found = record.find(id)
    if (!found) throw new Refusal('detection_not_found')
    return found
  }

  return {
    detectionOf,
    latest: (camera: string, { height, signal }: { height?: number | undefined; signal: AbortSignal }) =>
      latestPicture(pictures.latest(camera, { ...(height !== undefined && { height }), signal })),
    snapshot: (id: string, wanted: { boxed: boolean; signal: AbortSignal }) =>
      picture(pictures.snapshot(detectionOf(id), wanted)),
    clip: async (id: string, { range, signal }: { range?: string; signal: AbortSignal }) =>
      found(await orFailure(pictures.clip(detectionOf(id), { ...(range !== undefined && { range }), signal }))),
  }
}

export function createParts(options: PartsOptions) {
  const { deterrents } = options

  function existingDeterrent(name: string): string {
    const found = deterrents.list().find((deterrent) => deterrent.name === name)
    if (!found) throw new Refusal('deterrent_not_found')
    return found.name
  }

  return {
    ...createPictureParts(options),

    async fire(name: string, seconds: number | undefined, by: Asker): Promise<{ firing: Firing }> {
      const answer = await deterrents.fire({ deterrent: existingDeterrent(name), seconds, by })
      if ('refused' in answer) throw new Refusal('not_fired', { message: answer.message, reason: answer.refused })
      return answer
    },
    stop: (name: string, by: Asker) => deterrents.stop(existingDeterrent(name), by),
    async arm(by: Asker) {
      if (!(await deterrents.arm(by))) throw new Refusal('not_armed')
      return { armed: deterrents.isArmed() }
    },
    async disarm(by: Asker, lasts?: DisarmTime) {
      await deterrents.disarm(by, lasts)
      return { armed: deterrents.isArmed() }
    },
    async snooze(order: SnoozeOrder, by: Asker) {
      if (!(await deterrents.snooze(by, order))) throw new Refusal('too_many_snoozes')
    },
    async endSnooze(order: SnoozeOrder, by: Asker) {
      if (!(await deterrents.endSnooze(by, order))) throw new Refusal('not_snoozed')
    },
  }
}

/** Returns the JPEG, or refuses with the right code. */
export async function picture(pending: Promise<Buffer | undefined>): Promise<Clip> {
  return jpegAnswer(found(await orFailure(pending)))
}

/** As `picture`, with the age in a header. */
export async function latestPicture(pending: Promise<LatestPicture | undefined>): Promise<Clip> {
  const { jpeg, ageMs } = found(await orFailure(pending))
  return jpegAnswer(jpeg, ageMs === undefined ? {} : { [PICTURE_AGE_HEADER]: String(Math.round(ageMs)) })
}

function jpegAnswer(jpeg: Buffer, headers: Record<string, string> = {}): Clip {
  const fixed = { 'content-type': 'image/jpeg', 'content-length': String(jpeg.length) }
  return { status: 200, headers: { ...fixed, ...headers }, body: Readable.from([jpeg]) }
}

async function orFailure<T>(pending: Promise<T>): Promise<T> {
  try {
    return await pending
  } catch (error) {
    if (error instanceof ClipNotFinished) throw new Refusal('clip_not_finished')
    throw new Refusal('camera_failed', { message: inWords(error) })
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Refusal('no_picture')
  return value
}
