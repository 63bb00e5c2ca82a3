/** Fetches pictures that are wanted at the same time in one call: with a call for each, a scrolling wall stutters. */
import { THUMBNAIL_NAMES_MAX, THUMBNAILS_AT_ONCE, thumbnailName } from '@hedgerow/contract/constants'
import { readThumbnails } from 'virtual:contract-calls'
import { api } from './client.ts'

type Wanted = { name: string; resolve: (jpeg: string) => void; reject: (error: unknown) => void }

const CALLS_AT_ONCE = 2
const waiting: Wanted[] = []
let calls = 0

/** A picture as base64. Rejects when there is none. */
export function fetchThumbnail(gatewayId: string, detectionId: string): Promise<string> {
  return new Promise((resolve, reject) => {
    waiting.push({ name: thumbnailName(gatewayId, detectionId), resolve, reject })
    // Everything that one drawing of the page wants is known then.
    if (waiting.length === 1) queueMicrotask(fetchWaiting)
  })
}

function fetchWaiting(): void {
  if (calls >= CALLS_AT_ONCE || waiting.length === 0) return
  calls += 1
  void fetchBatch(waiting.splice(0, batchLength())).finally(() => {
    calls -= 1
    fetchWaiting()
  })
  fetchWaiting()
}

/** How many of those that wait fit into one call. */
function batchLength(): number {
  let length = 0
  let text = 0
  while (length < Math.min(waiting.length, THUMBNAILS_AT_ONCE)) {
    text += waiting[length]!.name.length + 1
    if (length > 0 && text > THUMBNAIL_NAMES_MAX) break
    length += 1
  }
  return length
}

async function fetchBatch(batch: readonly Wanted[]): Promise<void> {
  try {
    const found = await api(readThumbnails, { query: { of: batch.map(({ name }) => name).join(',') } })
    const byName = new Map(found.map(({ gatewayId, id, jpeg }) => [thumbnailName(gatewayId, id), jpeg]))
    for (const { name, resolve, reject } of batch) {
      const jpeg = byName.get(name)
      if (jpeg === undefined) reject(new Error('There is no picture'))
      else resolve(jpeg)
    }
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
