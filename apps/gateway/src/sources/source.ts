import type { Readable } from 'node:stream'
import type { CameraView } from '../cameras/views.ts'
import type { CameraWatch } from '../deterrents/watch.ts'
import type { Box, Detection, Heartbeat } from '@hedgerow/contract'
import type { Features, RgbImage } from '@hedgerow/vision'
import type { Logger } from 'pino'

/** A source's state; it is part of each heartbeat. */
export type SourceState = Pick<Heartbeat, 'cameras' | 'detectors' | 'problems'>

/** The bytes of a JPEG file. */
export type Jpeg = Buffer

/** `ageMs`: how long ago it was taken, where the source knows. */
export type LatestPicture = { jpeg: Jpeg; ageMs?: number }

/** An MP4 file or a range of it (RFC 9110 §14.2): the headers are `content-type`, `content-length`, `content-range`. */
export type Clip = { status: 200 | 206; headers: Record<string, string>; body: Readable }

/**
 * Pictures on demand. A source answers for its own cameras and detections, and returns `undefined` for those of other
 * sources. Each rejects with the error of the camera or the application behind it.
 */
export type Pictures = {
  /** The newest picture of a camera; `height` in pixels, where the source can scale. */
  latest(camera: string, options: { height?: number; signal: AbortSignal }): Promise<LatestPicture | undefined>
  /** With `boxed`, the object's box is drawn. */
  snapshot(detection: Detection, options: { boxed?: boolean; signal: AbortSignal }): Promise<Jpeg | undefined>
  /** Rejects with ClipNotFinished while the clip is being filmed. */
  clip(detection: Detection, options: { range?: string; signal: AbortSignal }): Promise<Clip | undefined>
}

/** The clip will exist some seconds after the detection has ended. */
export class ClipNotFinished extends Error {
  override name = 'ClipNotFinished'
}

/** An object that is followed now. */
export type LiveBox = { label: string; score: number; box: NonNullable<Detection['box']> }

/**
 * One of the objects of a detection, from a source whose detections are about all objects of a camera at that time.
 * Rules decide for each of them, once, and not for the detection.
 */
export type DetectedObject = {
  /** The same in all detections that it is part of. */
  id: string
  label: string
  /** The highest so far. */
  score: number
  /** Every zone that it entered, in that order. */
  zones: readonly string[]
  startedAt: string
  /** When its source last saw it, where that says so: it may have been there for hours. */
  seenAt?: string
  /** Undefined while it is there. */
  endedAt?: string
  /** It has not moved yet, or stands still for some time: it fires nothing before it moves. */
  isStill: boolean
}

/** What a camera can report; undefined when that may be anything. `seesPersons`: undefined when unknown. */
export type CameraNames = { zones?: readonly string[]; labels?: readonly string[]; seesPersons?: boolean }

/** Produces detections from its start until `stop`. */
export type Source = {
  state(): SourceState
  /** Undefined while its cameras are unknown. */
  watch(): CameraWatch | undefined
  /** What its cameras can report, where only the source knows that. */
  names?(): ReadonlyMap<string, CameraNames> | undefined
  pictures?: Partial<Pictures>
  /** Where objects are in the newest picture of a camera; undefined for cameras of other sources. */
  boxes?(camera: string): LiveBox[] | undefined
  /** What is wrong with a camera, in sentences; undefined for cameras of other sources. */
  problemsOf?(camera: string): string[] | undefined
  /** What a camera usually sees, where the source compares it; undefined for cameras of other sources. */
  viewOf?(camera: string): Pick<CameraView, 'pictures' | 'accept'> | undefined
  /** What a camera writes into its picture, where the source ignores that; undefined for cameras of other sources. */
  overlaysOf?(camera: string): { boxes(): readonly Box[]; lookAgain(): void } | undefined
  /** Stops everything that it started; resolves when all sockets, files and child processes are closed. */
  stop(): Promise<void>
}

/**
 * A source's sight of a detection, for learning: 64 x 64 pixels around it, how far it moved, in its own lengths, and
 * the features that its model gave out.
 */
export type Sight = { crop: RgbImage; travel: number; features?: Features | undefined }

/** Something that moved, and the settings with which it would have been a detection. */
export type Candidate = {
  label: string
  /** The highest `minimumScore` with which it would have been one. */
  score: number
  /** How long it was in view. A detection must be seen three times within this time. */
  seconds: number
}

export type SourceContext = {
  log: Logger
  /** The data directory of the device; a source keeps its files in a folder of its own below it. */
  dataDir: string
  /** Milliseconds since 1970. */
  clock: () => number
  /**
   * Resolves when the detections are on disk and the rules have seen them. Rejects with a ZodError or the disk's error.
   * `sights`: by detection id, when the source itself has the camera's picture. `objects`: by detection id too.
   */
  report(
    detections: readonly Detection[],
    more?: { sights?: ReadonlyMap<string, Sight>; objects?: ReadonlyMap<string, readonly DetectedObject[]> },
  ): Promise<void>
  /** The objects of a reported detection changed: the rules decide again. Unknown ids are ignored. */
  follow(detectionId: string, objects: readonly DetectedObject[]): void
  /** Whether an enabled rule names this label: of several objects, such a one is what people should see. */
  firesRule(label: string): boolean
  /**
   * Reports an object that is no detection, or not yet: a person in the picture keeps deterrents off. A source that
   * reports every object as a detection need not call it. `holdMs`: how long a person then counts as there, for a
   * source that says it again only after a longer time.
   */
  glimpse(camera: string, label: string, holdMs?: number): void
  /** Stores a candidate for a person who tunes the camera. `at`: when it began, in milliseconds since 1970. */
  noteCandidate(camera: string, candidate: Candidate & { at: number }): void
  /** Whether a person said that a detection is wrong. */
  isWrong(detectionId: string): boolean
}
