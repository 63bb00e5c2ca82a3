import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { mutate, type Random } from '../../../packages/wireguard/fuzz/mutate.ts'

/** How a conversation ends: half-closed, closed, reset, or not at all. */
type End = 'half' | 'destroy' | 'reset' | 'none'
/** Bytes, their cuts into pieces, and how the conversation ends. */
export type Script = { pieces: Uint8Array[]; end: End }

const ENDS: End[] = ['half', 'destroy', 'reset', 'none']
const MAX_BYTES = 64 * 1024
const MAX_PIECES = 24
/** How long to read from a side that ends by itself. */
const LISTEN_MS = 150

/** One to four seeds, one after the other; three cases in four are mutated. */
export function createScript(seeds: readonly string[], random: Random): Script {
  const pick = () => Buffer.from(seeds[random(seeds.length)] ?? '', 'latin1')
  const whole = Buffer.concat(Array.from({ length: random(3) === 0 ? 1 + random(4) : 1 }, pick))
  const data = random(4) === 0 ? whole : mutate(whole, pick(), random, MAX_BYTES)
  const cuts = Array.from({ length: random(2) * random(MAX_PIECES) }, () => random(data.length + 1))
  const marks = [0, ...cuts.toSorted((a, b) => a - b), data.length]
  const pieces = marks.slice(1).map((mark, i) => data.subarray(marks[i], mark))
  return { pieces, end: ENDS[random(ENDS.length)] ?? 'none' }
}

/** Writes the script to a stream and ignores the answers. */
export async function say(stream: Duplex, { pieces, end }: Script): Promise<void> {
  stream.on('error', () => {})
  stream.resume()
  for (const piece of pieces) {
    if (stream.destroyed || !stream.writable) break
    stream.write(piece)
    if (pieces.length > 1) await sleep(1)
  }
  if (end === 'reset' && stream instanceof Socket) return void stream.resetAndDestroy()
  if (end === 'half' && stream.writable) stream.end()
  if (end !== 'destroy') await Promise.race([new Promise((resolve) => stream.once('close', resolve)), sleep(LISTEN_MS)])
  if (end !== 'none') stream.destroy()
}
