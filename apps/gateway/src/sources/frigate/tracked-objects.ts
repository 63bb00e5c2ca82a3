import type { z } from 'zod'
import type { DetectedObject } from '../source.ts'
import type { trackedObject, TrackedMessage } from './messages.ts'

/** Part of a picture as fractions of its width and height; `x` and `y` are its upper left corner. */
export type Box = { x: number; y: number; width: number; height: number }

/** One tracked object: the best score so far, all zones that it entered, and its last place. */
export type SeenObject = DetectedObject & {
  camera: string
  /**
   * What Frigate's settings make of it: null when they want no review item of it, undefined when Frigate says nothing.
   */
  severity: string | null | undefined
  box: Box | undefined
  /** It has not moved yet, so no review item has it. */
  isUnmoved: boolean
}

/** The latest reports of tracked objects. A review item names its objects, without score or place. */
export type TrackedObjects = {
  /** `frame`: the size in pixels of the stream that Frigate detects on; undefined while it is not known. */
  take(message: TrackedMessage, frame: { width: number; height: number } | undefined): SeenObject
  takeStored(object: z.output<typeof trackedObject>): SeenObject
  get(id: string): SeenObject | undefined
}

/** A busy site tracks some hundred objects an hour. */
const OBJECTS_MAX = 2_000

export function createTrackedObjects(clock: () => number): TrackedObjects {
  const objects = new Map<string, SeenObject>()

  function keep(seen: SeenObject): SeenObject {
    const before = objects.get(seen.id)
    const newest: SeenObject = {
      ...seen,
      score: Math.max(seen.score, before?.score ?? 0),
      zones: [...new Set([...(before?.zones ?? []), ...seen.zones])],
      box: seen.box ?? before?.box,
      // A late message does not bring it back.
      ...(before?.endedAt !== undefined && { endedAt: before.endedAt }),
    }
    objects.delete(seen.id)
    objects.set(seen.id, newest)
    if (objects.size > OBJECTS_MAX) objects.delete(objects.keys().next().value!)
    return newest
  }

  const ended = (at: number | null | undefined) =>
    typeof at === 'number' && { endedAt: new Date(Number.isFinite(at) ? at * 1_000 : clock()).toISOString() }
  const began = (at: number | null | undefined) => new Date(at ? at * 1_000 : clock()).toISOString()

  return {
    take({ type, after }, frame) {
      const { id, camera, label, score, top_score: topScore, box, entered_zones: zones } = after
      const [left = 0, top = 0, right = 0, bottom = 0] = box ?? []
      return keep({
        id,
        camera,
        label,
        score: topScore || score,
        zones: zones ?? [],
        startedAt: objects.get(id)?.startedAt ?? began(after.start_time),
        ...(after.frame_time && { seenAt: began(after.frame_time) }),
        ...ended(type === 'end' ? (after.end_time ?? Infinity) : after.end_time),
        isStill: after.stationary === true,
        isUnmoved: after.position_changes === 0,
        severity: after.max_severity,
        box:
          box && frame
            ? boxOf(left / frame.width, top / frame.height, right / frame.width, bottom / frame.height)
            : undefined,
      })
    },
    takeStored({ id, camera, label, zones, start_time: start, end_time: end, data }) {
      const { score, top_score: topScore, box, max_severity: severity } = data
      const [x = 0, y = 0, width = 0, height = 0] = box ?? []
      return keep({
        id,
        camera,
        label,
        score: topScore || score || 0,
        zones: zones ?? [],
        startedAt: began(start),
        ...ended(end),
        isStill: false,
        isUnmoved: false,
        severity,
        box: box ? boxOf(x, y, x + width, y + height) : undefined,
      })
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
