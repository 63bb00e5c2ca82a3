/**
 * Clips of detections, streamed from their gateway: never in memory as a whole, bounded in size, time and number, and
 * ended when they stall. A gateway's answer must be an MP4 of the requested range.
 */
import type { IncomingMessage } from 'node:http'
import { pipeline, Transform, type Readable } from 'node:stream'
import { doorCalls } from '@hedgerow/contract'
import { orUnavailable, type DoorGateway, type GatewayDoor } from '../gateway-door/gateway-door.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createTurns } from './turns.ts'

const HEAD_TIMEOUT_MS = 30_000
/** A player that is paused for longer requests the rest when it continues. */
const STALLED_MS = 60_000
const WHOLE_MS = 15 * 60_000
export const CLIP_MAX_BYTES = 512 * 1024 * 1024
const LIMITS = { perGateway: 4, total: 32, waiting: 100, waitMs: 10_000 }
/** Bytes 4 to 7 of an MP4: the type of its first box (ISO 14496-12 §4.2 and §8.16.2). */
const FIRST_BOXES = ['ftyp', 'styp']
const BOX_HEAD_BYTES = 8

export type Clip = {
  status: 200 | 206
  headers: Record<string, string>
  body: Readable
}

export type Clips = {
  /**
   * `range` is the browser's header. Throws `gateway_unreachable`, `clip_not_finished`, `clip_unavailable`,
   * `range_not_satisfiable` and `pictures_busy`. The body ends with an error when the gateway sends less or more than
   * it said, or nothing for a minute; the caller must read or destroy it.
   */
  open(
    gateway: DoorGateway & { id: string },
    detectionId: string,
    request: { range: string | undefined; signal: AbortSignal },
  ): Promise<Clip>
}

/** The limits are arguments for tests. */
export function createClips({
  door,
  maxBytes = CLIP_MAX_BYTES,
  stalledMs = STALLED_MS,
  headTimeoutMs = HEAD_TIMEOUT_MS,
}: {
  door: Pick<GatewayDoor, 'open'>
  maxBytes?: number
  stalledMs?: number
  headTimeoutMs?: number
}): Clips {
  const turns = createTurns(LIMITS)

  async function begin(
    gateway: DoorGateway,
    detectionId: string,
    { range, signal }: { range: string | undefined; signal: AbortSignal },
  ): Promise<Clip> {
    const requestedRange = range === undefined ? undefined : parseRange(range)
    const incoming = await door
      .open(gateway, doorCalls.readClip, {
        params: { id: detectionId },
        headers: requestedRange ? { range: requestedRange.text } : {},
        timeoutMs: headTimeoutMs,
        signal,
      })
      .catch(orUnavailable('clip_unavailable'))
    try {
      const checked = checkHead(incoming, requestedRange, maxBytes)
      if (checked.first === 0) await checkStart(incoming, AbortSignal.any([signal, AbortSignal.timeout(headTimeoutMs)]))
      const body = pipeline(incoming, countBytes(checked.length ?? maxBytes, stalledMs), () => {})
      return { status: checked.status, headers: checked.headers, body }
    } catch (error) {
      incoming.destroy()
      throw error
    }
  }

  return {
    async open(gateway, detectionId, { range, signal }) {
      const giveBack = await turns.take(gateway.id, signal)
      try {
        const within = AbortSignal.any([signal, AbortSignal.timeout(WHOLE_MS)])
        const clip = await begin(gateway, detectionId, { range, signal: within })
        clip.body.once('close', giveBack)
        return clip
      } catch (error) {
        giveBack()
        throw error
      }
    },
  }
}

type Range = { text: string; first: number | undefined }

/** One range; several, or one of another unit, are ignored as RFC 9110 §14.2 allows. */
function parseRange(header: string): Range | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim())
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const [, first = '', last = ''] = match
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  return { text: `bytes=${first}-${last}`, first: first === '' ? undefined : Number(first) }
}

function checkHead(
  incoming: IncomingMessage,
  requestedRange: Range | undefined,
  maxBytes: number,
): { status: 200 | 206; headers: Record<string, string>; length: number | undefined; first: number } {
  const { statusCode: status, headers } = incoming
  if (status === 409) throw new HubError('clip_not_finished')
  if (status === 416 && requestedRange) throw new HubError('range_not_satisfiable')
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  if (length !== undefined && !(Number.isSafeInteger(length) && length >= 0 && length <= maxBytes))
    throw new HubError('clip_unavailable')
  const lengthHeader = { ...(length !== undefined && { 'content-length': String(length) }) }
  if (status === 200) {
    const ranges = headers['accept-ranges'] === 'bytes' ? { 'accept-ranges': 'bytes' } : {}
    return { status, headers: { ...lengthHeader, ...ranges }, length, first: 0 }
  }
  const part = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '')
  if (status !== 206 || !requestedRange || !part || length === undefined) throw new HubError('clip_unavailable')
  const [first, last] = [Number(part[1]), Number(part[2])]
  const isRequestedRange = requestedRange.first === undefined || requestedRange.first === first
  if (!isRequestedRange || last - first + 1 !== length || (part[3] !== '*' && last >= Number(part[3])))
    throw new HubError('clip_unavailable')
  return { status, headers: { ...lengthHeader, 'accept-ranges': 'bytes', 'content-range': part[0] }, length, first }
}

/** Throws `clip_unavailable` when it does not begin as an MP4; takes nothing from the stream. */
async function checkStart(incoming: IncomingMessage, signal: AbortSignal): Promise<void> {
  const start = await readStart(incoming, signal).catch((error: unknown) => {
    throw new HubError('gateway_unreachable', { cause: error })
  })
  // The browser reads the type from the first box; a range of fewer bytes says nothing.
  if (start && !FIRST_BOXES.includes(start.toString('latin1', 4, BOX_HEAD_BYTES)))
    throw new HubError('clip_unavailable')
}

/** Undefined when the stream is shorter. */
function readStart(incoming: IncomingMessage, signal: AbortSignal): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const look = () => {
    const start = incoming.read(BOX_HEAD_BYTES) as Buffer | null
    if (start === null && !incoming.readableEnded) return
    if (start !== null) incoming.unshift(start)
    resolve(start !== null && start.length === BOX_HEAD_BYTES ? start : undefined)
  }
  const stop = () => reject(signal.reason as Error)
  const cut = () => reject(new Error('the connection ended without a whole answer'))
  const end = () => resolve(undefined)
  incoming.on('readable', look).once('error', reject).once('close', cut).once('end', end)
  signal.addEventListener('abort', stop, { once: true })
  look()
  return promise.finally(() => {
    incoming.off('readable', look).off('error', reject).off('close', cut).off('end', end)
    signal.removeEventListener('abort', stop)
  })
}

/** Ends with an error after `maxBytes`, and when nothing moves for `stalledMs`, on either side. */
function countBytes(maxBytes: number, stalledMs: number): Transform {
  let passed = 0
  const stalled = setTimeout(() => counter.destroy(new Error('nothing moved in the clip')), stalledMs)
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      stalled.refresh()
      passed += chunk.length
      if (passed > maxBytes) done(new Error('the clip is longer than the gateway said, or than the hub passes on'))
      else done(null, chunk)
    },
  })
  counter.once('close', () => clearTimeout(stalled))
  return counter
}
