/** Readers of one kind of camera (ffmpeg.ts, http-camera.ts) for camera.ts, which restarts it. */
import type { RgbImage } from '@hedgerow/vision'
import type { Logger } from 'pino'
import type { CameraSettings } from './schema.ts'

/** The picture as received, decoded, or both for a camera that sends JPEG. */
export type Picture = { image: RgbImage; jpeg?: Buffer }

/** Reads pictures until `signal`, or rejects with CameraError at the first problem. */
export type PictureReader = (
  settings: CameraSettings,
  context: {
    /** Takes the picture if it is due, and never waits. */
    offer(decode: () => Promise<Picture>): void
    pause(ms: number): Promise<void>
    /** A part of the video was damaged, so pictures may be wrong there. */
    noteDamage(): void
    /** Receives the camera's video where the reader has it; undefined at the start of a connection. */
    onStream?: ((bytes: Buffer | undefined) => void) | undefined
    signal: AbortSignal
    log: Logger
  },
) => Promise<void>
