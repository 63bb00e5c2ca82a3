/** A reader of one kind of camera (ffmpeg.ts, http-camera.ts). camera.ts restarts it. */
import type { RgbImage } from '@hedgerow/vision'
import type { Logger } from 'pino'
import type { CameraSettings } from './schema.ts'

/**
 * A decoded picture, and the JPEG as received for a camera that sends JPEG. `own`: the same picture at the camera's own
 * resolution, when it is larger than what is looked at.
 */
export type Picture = { image: RgbImage; jpeg?: Buffer; own?: () => Promise<RgbImage> }

/** Reads pictures until `signal` is aborted, or rejects with CameraError at the first problem. */
export type PictureReader = (
  settings: CameraSettings,
  context: {
    /** Takes the picture if it is due, and never waits. */
    offer(decode: () => Promise<Picture>): void
    pause(ms: number): Promise<void>
    /** A picture came that needs no other, whether or not it is due. */
    noteKeyFrame(): void
    /** The whole picture came as it is coded. */
    noteCodedKeyFrame(hash: string): void
    /** A part of the video was damaged, so pictures may be wrong there. */
    noteDamage(): void
    /** Receives the camera's video where the reader has it; undefined at the start of a connection. */
    onStream?: ((bytes: Buffer | undefined) => void) | undefined
    signal: AbortSignal
    log: Logger
  },
) => Promise<void>
