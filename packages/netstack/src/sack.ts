/**
 * Selective acknowledgment. `ReceivedBlocks` is the receiver's half: what to report (RFC 2018 §4, RFC 2883 §4).
 * `markSacked` is the sender's: what the peer's report says about segments in flight (RFC 2018 §5).
 */
import type { RetransmissionQueue, SentSegment } from './retransmission.ts'
import type { Range } from './segment.ts'
import { after, before } from './sequence.ts'

const MAX_BLOCKS = 512

/** The ranges held above the next expected sequence number, most recently touched first. */
export class ReceivedBlocks {
  #blocks: Range[] = []
  /** A duplicate to report once, as the first block (RFC 2883 §4). */
  #duplicate: Range | undefined

  get isFull(): boolean {
    return this.#blocks.length >= MAX_BLOCKS
  }

  add(start: number, end: number): void {
    const merged = { start, end }
    const ranges: Range[] = [merged]
    for (const block of this.#blocks) {
      if (after(block.start, merged.end) || before(block.end, merged.start)) ranges.push(block)
      else {
        if (before(block.start, merged.start)) merged.start = block.start
        if (after(block.end, merged.end)) merged.end = block.end
      }
    }
    this.#blocks = ranges
  }

  /** Drops ranges that the cumulative acknowledgment now covers. */
  advanceTo(next: number): void {
    if (this.#blocks.length > 0) this.#blocks = this.#blocks.filter((block) => after(block.end, next))
  }

  noteDuplicate(start: number, end: number): void {
    this.#duplicate = { start, end }
  }

  /** The blocks of the next acknowledgment, as many as fit; the duplicate is reported once. */
  report(maxBlocks: number): readonly Range[] | undefined {
    if (this.#duplicate !== undefined) {
      const report = [this.#duplicate, ...this.#blocks.slice(0, maxBlocks - 1)]
      this.#duplicate = undefined
      return report
    }
    if (this.#blocks.length === 0) return undefined
    return this.#blocks.length > maxBlocks ? this.#blocks.slice(0, maxBlocks) : this.#blocks
  }
}

/**
 * Marks each segment that lies whole inside a block and hands it to `delivered`. Blocks outside
 * `(unacknowledged, sent]` are ignored (RFC 2018 §8): they are duplicates, stale or forged. Returns whether the first
 * block reports a duplicate, which is true when the block lies below the acknowledgment of its segment (RFC 2883 §4);
 * an overtaken old report is no duplicate.
 */
export function markSacked(
  queue: RetransmissionQueue,
  blocks: readonly Range[],
  limits: { unacknowledged: number; sent: number; acknowledgment: number },
  delivered: (segment: SentSegment) => void,
): boolean {
  let duplicate = false
  for (const [index, block] of blocks.entries()) {
    if (!before(block.start, block.end)) continue
    if (index === 0) {
      const second = blocks[1]
      const isInsideSecond = second !== undefined && !before(block.start, second.start) && !after(block.end, second.end)
      if (!after(block.end, limits.acknowledgment) || isInsideSecond) {
        duplicate = true
        continue
      }
    }
    if (!after(block.end, limits.unacknowledged) || after(block.end, limits.sent)) continue
    queue.forEach((segment) => {
      if (!before(segment.start, block.end)) return false
      if (!segment.sacked && !before(segment.start, block.start) && !after(segment.end, block.end)) {
        queue.markSacked(segment)
        delivered(segment)
      }
      return true
    })
  }
  return duplicate
}
