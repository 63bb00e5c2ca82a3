import type { z } from 'zod'
import type { trackedObject, TrackedMessage } from './messages.ts'

/** Part of a picture as fractions of its width and height; `x` and `y` are its upper left corner. */
export type Box = { x: number; y: number; width: number; height: number }

/** One tracked object: the best score so far, and its last place. */
export type SeenObject = { label: string; score: number; box: Box | undefined }

/** The latest reports of tracked objects. A review item names its objects, without score or place. */
export type TrackedObjects = {
  /** `frame`: the size in pixels of the stream that Frigate detects on; undefined while it is not known. */
  take(message: TrackedMessage['after'], frame: { width: number; height: number } | undefined): void
  takeStored(object: z.output<typeof trackedObject>): void
  get(id: string): SeenObject | undefined
}

/** A busy site tracks some hundred objects an hour. */
const KEPT = 2_000

export function createTrackedObjects(): TrackedObjects {
  const objects = new Map<string, SeenObject>()

  function keep(id: string, seen: SeenObject): void {
    const before = objects.get(id)
    objects.delete(id)
    objects.set(id, { ...seen, score: Math.max(seen.score, before?.score ?? 0), box: seen.box ?? before?.box })
    if (objects.size > KEPT) for (const oldest of objects.keys()) return void objects.delete(oldest)
  }

  return {
    take({ id, label, score, top_score: topScore, box }, frame) {
      const [left = 0, top = 0, right = 0, bottom = 0] = box ?? []
      const fractions =
        box && frame
          ? boxOf(left / frame.width, top / frame.height, right / frame.width, bottom / frame.height)
          : undefined
      keep(id, { label, score: topScore || score, box: fractions })
    },
    takeStored({ id, label, data: { score, top_score: topScore, box } }) {
      const [x = 0, y = 0, width = 0, height = 0] = box ?? []
      keep(id, { label, score: topScore || score || 0, box: box ? boxOf(x, y, x + width, y + height) : undefined })
    },
    get: (id) => objects.get(id),
  }
}

/** Clips the box to the picture; undefined when nothing of it is left. */
function boxOf(left: number, top: number, right: number, bottom: number): Box | undefined {
  const [x, y] = [fraction(left), fraction(top)]
  const [width, height] = [fraction(right) - x, fraction(bottom) - y]
  return width > 0 && height > 0 ? { x, y, width, height } : undefined
}

function fraction(value: number): number {
  return Math.min(1, Math.max(0, value))
}
