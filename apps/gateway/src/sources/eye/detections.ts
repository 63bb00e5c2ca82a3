/** Turns tracks into detections: decides which are reported, when, and with which picture. */
import { randomUUID } from 'node:crypto'
import type { Detection } from '@hedgerow/contract'
import { THUMBNAIL_MAX_BYTES } from '@hedgerow/contract'
import {
  clipToPicture,
  cropOf,
  frameQuality,
  growBy,
  isBetterFrame,
  zonesOf,
  type Box,
  type Polygon,
  type RgbImage,
  type Track,
} from '@hedgerow/vision'
import type { Frame } from '../../cameras/camera.ts'
import { encodeJpeg } from '../../cameras/decode.ts'
import { MOTION } from '../../kernel/motion-label.ts'
import type { CameraRecorder } from '../../recording/recorder.ts'
import type { Sight, SourceContext } from '../source.ts'

export type DetectionsOptions = {
  camera: string
  zones: Readonly<Record<string, Polygon>>
  /** The name of the recogniser. */
  by: string
  /** Converts a moment of the tracks' clock to milliseconds since 1970. */
  toUnixMs(atMs: number): number
  report: SourceContext['report']
  recorder: CameraRecorder
}

/** A detection is updated at most this often, except for a new zone or label, and at its end. */
const UPDATE_EVERY_MS = 5_000
/** Room around the object in its picture, in shares of its box. */
const SURROUNDINGS = 0.6
const LEAST_PICTURE = { width: 320, height: 180 }
const MOST_WIDTH = 640
const QUALITIES = [80, 60, 40]

type SentDetection = {
  detection: Detection
  sentAt: number
  quality: number | undefined
  /** The object with its surroundings, for the hub. */
  jpeg: Buffer | undefined
  /** The whole picture. */
  snapshot: Buffer | undefined
  /** The sight in the best picture. */
  sight: Sight | undefined
  isNewPicture: boolean
}

export function createDetections({ camera, zones, by, toUnixMs, report, recorder }: DetectionsOptions) {
  const sent = new Map<number, SentDetection>()
  const moment = (atMs: number) => new Date(toUnixMs(atMs)).toISOString()
  const isAlertPlace = (zone: string | undefined) => zone !== undefined || Object.keys(zones).length === 0

  async function send(one: SentDetection, now: number): Promise<void> {
    one.sentAt = now
    const thumbnail = one.isNewPicture && one.jpeg ? { thumbnail: one.jpeg.toString('base64') } : {}
    if (one.isNewPicture && one.snapshot) await recorder.keepPicture(one.detection.id, one.snapshot)
    one.isNewPicture = false
    const sights = one.sight && new Map([[one.detection.id, one.sight]])
    await report([{ ...one.detection, ...thumbnail }], sights && { sights })
  }

  return {
    /** Called for a confirmed track in a picture. */
    async see(track: Track, frame: Frame): Promise<void> {
      const { image, atMs: now } = frame
      const { label, score, sighting } = track
      const box = clipToPicture(sighting.box)
      const entered = zonesOf(zones, box).at(-1)
      const previous = sent.get(track.id)
      const zone = entered ?? previous?.detection.zone
      const detection: Detection = {
        id: previous?.detection.id ?? `eye-${randomUUID()}`,
        camera,
        label,
        severity: label !== MOTION && isAlertPlace(zone) ? 'alert' : 'detection',
        score,
        startedAt: previous?.detection.startedAt ?? moment(track.firstSeenAt),
        source: 'eye',
        verdicts: [{ stage: 'detector', by, outcome: 'unsure', score }],
        ...(zone !== undefined && { zone }),
        box,
      }
      const one = previous ?? newlySent(detection)
      if (!previous) recorder.begin(detection.id, track.firstSeenAt)
      sent.set(track.id, one)
      const isOther = detection.zone !== one.detection.zone || detection.label !== one.detection.label
      // The box belongs to the picture that is shown.
      one.detection = { ...detection, ...(one.detection.box && { box: one.detection.box }) }
      const quality = frameQuality(box, sighting.score)
      if (isBetterFrame(quality, one.quality)) {
        one.quality = quality
        const own = (await frame.own?.()) ?? image
        one.jpeg = await pictureOf(own, box)
        one.snapshot = frame.jpeg ?? (await encodeJpeg(own, { quality: 90 }))
        one.isNewPicture = one.jpeg !== undefined
        one.sight = { crop: cropOf(image, box), travel: track.travel, features: sighting.features }
        one.detection.box = box
      }
      if (!previous || isOther || now - one.sentAt >= UPDATE_EVERY_MS) await send(one, now)
    },
    /** Called when a confirmed track has ended. */
    async end({ id, lastSeenAt }: Track): Promise<void> {
      const one = sent.get(id)
      if (!one) return
      sent.delete(id)
      recorder.end(one.detection.id, lastSeenAt)
      one.detection = { ...one.detection, endedAt: moment(lastSeenAt) }
      await send(one, lastSeenAt)
    },
    /** The best whole picture so far of a detection that has not ended. */
    picture: (detectionId: string): Buffer | undefined =>
      [...sent.values()].find(({ detection }) => detection.id === detectionId)?.snapshot,
  }
}

function newlySent(detection: Detection): SentDetection {
  return {
    detection,
    sentAt: -Infinity,
    quality: undefined,
    jpeg: undefined,
    snapshot: undefined,
    sight: undefined,
    isNewPicture: false,
  }
}

/** The object with its surroundings, small enough to travel with the detection. */
async function pictureOf(image: RgbImage, box: Box): Promise<Buffer | undefined> {
  const grown = growBy(box, SURROUNDINGS)
  const width = Math.min(image.width, Math.max(LEAST_PICTURE.width, Math.round(grown.width * image.width)))
  const height = Math.min(image.height, Math.max(LEAST_PICTURE.height, Math.round(grown.height * image.height)))
  const middle = { x: (box.x + box.width / 2) * image.width, y: (box.y + box.height / 2) * image.height }
  const within = (at: number, most: number) => Math.max(0, Math.min(most, Math.round(at)))
  const part = {
    left: within(middle.x - width / 2, image.width - width),
    top: within(middle.y - height / 2, image.height - height),
    width,
    height,
  }
  for (const quality of QUALITIES) {
    const jpeg = await encodeJpeg(image, { part, width: MOST_WIDTH, quality })
    if (jpeg.length <= THUMBNAIL_MAX_BYTES) return jpeg
  }
  return undefined
}
