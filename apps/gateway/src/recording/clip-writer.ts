/**
 * Writes one MP4 file: Debian's `ffmpeg` reads a camera's video or pictures from its stdin as they come. Video is
 * copied unchanged; pictures are encoded. Arguments are an array, and a camera's bytes are read as that one format
 * only.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import type { Size } from '@hedgerow/vision'
import type { Coding } from '../cameras/transport-stream.ts'

/** The format on stdin. */
export type ClipInput =
  | { kind: 'stream'; coding: Coding }
  /** JPEG after JPEG, at an even rate. */
  | { kind: 'pictures'; framesPerSecond: number; size: Size }

export type ClipWriter = {
  write(bytes: Buffer): void
  /** Resolves when the file is whole. Rejects with ClipError when there is none. */
  finish(): Promise<void>
  /** Ends FFmpeg without a file. */
  abandon(): void
}

/** Why there is no clip; its message is part of a sentence for people. */
export class ClipError extends Error {
  override name = 'ClipError'
}

/** The most bytes that may wait for FFmpeg. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024
const FINISH_MS = 60_000
const LAST_WORDS_MAX = 2_000
/** The largest width of encoded clips, in pixels. */
const WIDTH_MAX = 1_280
const LOWEST_PRIORITY = 19

export function startClipWriter(path: string, input: ClipInput): ClipWriter {
  const child = spawn('ffmpeg', argumentsFor(path, input), { stdio: ['pipe', 'ignore', 'pipe'] })
  let failure: ClipError | undefined
  let lastWords = ''
  const fail = (error: ClipError): void => {
    failure ??= error
    child.kill('SIGKILL')
  }
  child.once('spawn', () => lowerPriority(child))
  child.on('error', (error) => fail(isMissing(error) ? FFMPEG_IS_MISSING() : new ClipError('FFmpeg does not start')))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-LAST_WORDS_MAX)))
  // When FFmpeg ends early, its stdin breaks; its exit code has the reason.
  child.stdin.on('error', () => {})
  const ended = once(child, 'close').catch(() => [])

  return {
    write(bytes) {
      if (child.stdin.writableLength > WAITING_BYTES_MAX) fail(new ClipError('this device is too slow for it'))
      else if (!failure && child.stdin.writable) child.stdin.write(bytes)
    },
    async finish() {
      child.stdin.end()
      const late = setTimeout(() => fail(new ClipError('this device is too slow for it')), FINISH_MS)
      const [code] = await ended
      clearTimeout(late)
      if (failure) throw failure
      if (code !== 0) throw new ClipError(`FFmpeg could not make it (${lastLine(lastWords)})`)
    },
    abandon: () => fail(new ClipError('it was abandoned')),
  }
}

export const FFMPEG_IS_MISSING = (): ClipError => new ClipError('FFmpeg is not installed: `apt-get install ffmpeg`')

const QUIET = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y']
const ONE_VIDEO = ['-map', '0:v:0', '-an', '-sn', '-dn']
/** The index comes first, so that a browser plays the file while it loads. */
const MP4 = ['-movflags', '+faststart', '-f', 'mp4']

function argumentsFor(path: string, input: ClipInput): string[] {
  if (input.kind === 'stream') {
    // Safari plays H.265 under this name only.
    const tag = input.coding === 'h265' ? ['-tag:v', 'hvc1'] : []
    return [...QUIET, '-f', 'mpegts', '-i', 'pipe:0', ...ONE_VIDEO, '-c', 'copy', ...tag, ...MP4, path]
  }
  const pictures = ['-f', 'image2pipe', '-c:v', 'mjpeg', '-framerate', String(input.framesPerSecond)]
  const { width, height } = codedSize(input.size)
  const scale = ['-vf', `scale=${width}:${height}:in_range=full:out_range=tv,format=yuv420p`]
  const coded = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '27', '-threads', '1']
  return [...QUIET, ...pictures, '-i', 'pipe:0', ...ONE_VIDEO, ...scale, ...coded, ...MP4, path]
}

/** Colour is coded for two pixels at once, so sides are even. */
function codedSize({ width, height }: Size): Size {
  const scale = Math.min(1, WIDTH_MAX / width)
  const even = (pixels: number) => Math.max(2, 2 * Math.floor((pixels * scale) / 2))
  return { width: even(width), height: even(height) }
}

/** Recognition and switching must not wait for a clip. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, LOWEST_PRIORITY)
  } catch {
    // It has ended already, or the system does not allow it.
  }
}

function isMissing(error: Error): boolean {
  return 'code' in error && error.code === 'ENOENT'
}

/** Removes the paths of this device. */
function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replaceAll(/\/\S{1,500}/g, '').slice(0, 120) || 'it said nothing'
}
