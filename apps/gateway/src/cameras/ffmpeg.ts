/**
 * Cameras through Debian's `ffmpeg` as a child process: it connects, decodes, reduces the pictures to the configured
 * rate and to the width that the eye needs, and writes them raw to its stdout. No part of an address becomes an option
 * or a file.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { RgbImage } from '@hedgerow/vision'
import { createKeyFrameReader, PROGRAM_MAP_PID, VIDEO_PID } from './transport-stream.ts'
import type { CameraSettings } from './schema.ts'
import { CameraError, refusalOf } from './camera-error.ts'
import { LOOKED_AT_SIDE, OWN_SIDE } from './decode.ts'
import { createFfmpegLog, inPlainWords } from './ffmpeg-words.ts'
import type { PictureReader } from './picture-reader.ts'
import { createPixelMapReader } from './pixel-map.ts'

const KILL_AFTER_MS = 3_000

export const readThroughFfmpeg: PictureReader = async (settings, context) => {
  const { offer, onStream, noteKeyFrame, noteCodedKeyFrame, noteDamage, signal, log } = context
  const child = spawn('ffmpeg', argumentsFor(settings, onStream !== undefined), {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  onStream?.(undefined)
  const ended = once(child, 'close').catch(() => {})
  const [pictures, words, stream, ownPictures] = child.stdio.slice(1) as [Readable, Readable, Readable, Readable]
  const countKeyFrames = createKeyFrameReader(noteKeyFrame, noteCodedKeyFrame)
  stream.on('data', (bytes: Buffer) => {
    countKeyFrames(bytes)
    onStream?.(bytes)
  })
  let size: string | undefined
  let hasNewSize = false
  let isSentOn = false
  const output = createFfmpegLog({
    damage: noteDamage,
    size(reported) {
      size ??= reported
      if (size === reported || hasNewSize) return
      // FFmpeg would continue at the size of its first picture, and distort the new ones.
      hasNewSize = true
      stop()
    },
    redirect() {
      // At once: FFmpeg is about to connect to an address that the camera chose, such as one of this device.
      isSentOn = true
      child.kill('SIGKILL')
    },
  })
  words.setEncoding('utf8').on('data', output.add)
  const stop = () => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref()
  }
  signal.addEventListener('abort', stop)
  try {
    // Rejects when the program is missing.
    await once(child, 'spawn')
    const pair = createPairs((image, own) => offer(async () => ({ image, ...(own && { own: async () => own }) })))
    await Promise.all([
      readPixelMaps(pictures, (image) => pair.looked(image)),
      readPixelMaps(ownPictures, (image) => pair.own(image)),
    ])
  } catch (error) {
    if (error instanceof CameraError) throw error
    if (isMissing(error)) throw new CameraError('FFmpeg is not installed: `apt-get install ffmpeg`')
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
    await ended
  }
  if (isSentOn) throw refusalOf(302)
  if (hasNewSize) throw new CameraError('its pictures have another size now; it is opened again')
  const meaning = inPlainWords(output.complaints(), settings, output.isDescribed())
  // FFmpeg may have logged why it gave no picture before it was ended.
  if (signal.aborted && !meaning) return
  log.warn({ ffmpeg: withoutAddresses(output.complaints()) }, 'FFmpeg ended')
  throw meaning ?? new CameraError('FFmpeg ended; the log of the gateway has its last lines')
}

async function readPixelMaps(stream: Readable, take: (image: RgbImage) => void): Promise<void> {
  const picturesOf = createPixelMapReader()
  for await (const bytes of stream) for (const image of picturesOf(bytes as Buffer)) take(image)
}

/** FFmpeg writes each picture twice, small and large, by two pipes: the first of each belong together. */
function createPairs(take: (image: RgbImage, own: RgbImage | undefined) => void) {
  const waiting = { looked: [] as RgbImage[], own: [] as RgbImage[] }
  function put(kind: keyof typeof waiting, image: RgbImage): void {
    waiting[kind].push(image)
    while (waiting.looked.length > 0 && waiting.own.length > 0) {
      const [small, large] = [waiting.looked.shift()!, waiting.own.shift()!]
      take(small, large.width > small.width ? large : undefined)
    }
  }
  return { looked: (image: RgbImage) => put('looked', image), own: (image: RgbImage) => put('own', image) }
}

const QUIET = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'repeat+level+verbose', '-fflags', 'nobuffer']
const ANSWER_US = '10000000'
/** Leaves out files and pipes, which a playlist or a redirect could name. */
const PROTOCOLS = 'rtp,udp,tcp,tls,crypto,rtsp,rtsps,rtmp,rtmps,rtmpt'
const ONE_VIDEO = ['-map', '0:v:0', '-an', '-sn', '-dn', '-threads', '1']
const COPIED = ['-map', '0:v:0', '-c', 'copy', '-flush_packets', '1', '-muxdelay', '0', '-f', 'mpegts']
const PIDS = ['-mpegts_pmt_start_pid', String(PROGRAM_MAP_PID), '-mpegts_start_pid', String(VIDEO_PID)]
const RAW_PICTURES = ['-f', 'image2pipe', '-c:v', 'ppm', '-pix_fmt', 'rgb24']

/** Copies the video as it is coded, for clips. */
export function streamArguments(to: string): string[] {
  return [...COPIED, ...PIDS, to]
}

export function argumentsFor(
  { url, framesPerSecond, hardwareDecoding, transport }: CameraSettings,
  withStream: boolean,
): string[] {
  const hardware = hardwareArguments(hardwareDecoding)
  const overRtsp = ['-rtsp_transport', transport, '-timeout', ANSWER_US]
  const connection = new URL(url).protocol.startsWith('rtsp') ? overRtsp : ['-rw_timeout', ANSWER_US]
  const pictures = (side: number, to: string) => {
    const scale = `fps=${framesPerSecond},scale='min(${side},iw)':-2`
    return [...ONE_VIDEO, '-vf', scale, ...RAW_PICTURES, to]
  }
  const input = ['-protocol_whitelist', PROTOCOLS, '-i', url]
  const both = [...pictures(LOOKED_AT_SIDE, 'pipe:1'), ...pictures(OWN_SIDE, 'pipe:4')]
  const stream = withStream ? streamArguments('pipe:3') : []
  return [...QUIET, ...hardware, ...connection, ...input, ...both, ...stream]
}

/** FFmpeg has a Raspberry Pi's H.264 decoder as a codec, and not as an accelerator. */
function hardwareArguments(by: CameraSettings['hardwareDecoding']): string[] {
  if (by === 'none') return []
  return by === 'v4l2m2m' ? ['-c:v', 'h264_v4l2m2m'] : ['-hwaccel', by]
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Users, passwords, paths and queries may be secrets. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/\b([a-z]{2,6}:\/\/)[^\s'"]+/gi, '$1…')
}
