import type { DetectedObject } from '../source.ts'
import type { ReviewItem } from './messages.ts'
import { labelsOfName, type AttributeOwners } from './object-names.ts'
import type { FrigateSettings } from './schema.ts'
import { toMoment } from './to-detection.ts'
import type { SeenObject, TrackedObjects } from './tracked-objects.ts'

/**
 * Which objects belong to which review item. Frigate has one open item of a camera, bundles all objects of the camera
 * in it, and is silent about many changes: an object that joins while another one leaves, a zone, a score. So the
 * messages about objects count, and the open item is where they belong.
 */
export type Items = {
  /** Keeps the newest state of an item. */
  take(item: ReviewItem): void
  /** The open item that the object belongs to. Undefined when it has none, or when Frigate's settings leave it out. */
  itemOf(object: SeenObject): ReviewItem | undefined
  /** Its objects, those that Frigate only names, and its sounds. */
  objectsOf(item: ReviewItem): SeenObject[]
}

const ITEMS_MAX = 1_000

export function createItems(options: {
  settings: Pick<FrigateSettings, 'severity'>
  objects: Pick<TrackedObjects, 'get'>
  owners(): AttributeOwners
}): Items {
  const { settings, objects } = options
  /** By camera. */
  const open = new Map<string, ReviewItem>()
  /** By item: the ids of objects that Frigate has not named in it. */
  const more = new Map<string, Set<string>>()

  function isPartOf(item: ReviewItem, { id }: SeenObject): boolean {
    return item.data.detections.includes(id) || (more.get(item.id)?.has(id) ?? false)
  }

  /** Frigate adds what moves, and what its settings want to be reviewed. */
  function mayJoin({ isStill, isUnmoved, endedAt, severity }: SeenObject): boolean {
    if (isStill || isUnmoved || endedAt !== undefined || severity === null) return false
    return settings.severity === 'detection' || severity !== 'detection'
  }

  function unnamed(item: ReviewItem, label: string, zones: readonly string[]): SeenObject {
    return {
      id: `${item.id} ${label}`,
      camera: item.camera,
      label,
      score: 0,
      zones,
      startedAt: toMoment(item.start_time),
      isStill: false,
      isUnmoved: false,
      severity: undefined,
      box: undefined,
    }
  }

  return {
    take(item) {
      const openItem = open.get(item.camera)
      if (item.end_time === null && (openItem?.start_time ?? 0) <= item.start_time) open.set(item.camera, item)
      else if (openItem?.id === item.id) open.delete(item.camera)
    },
    itemOf(object) {
      const item = open.get(object.camera)
      if (!item || isPartOf(item, object)) return item
      if (!mayJoin(object)) return undefined
      const joined = more.get(item.id) ?? new Set()
      more.set(item.id, joined.add(object.id))
      if (more.size > ITEMS_MAX) more.delete(more.keys().next().value!)
      return item
    },
    objectsOf(item) {
      const { detections, objects: names, zones, audio } = item.data
      const ids = [...new Set([...detections, ...(more.get(item.id) ?? [])])]
      const openItem = ids.flatMap((id) => {
        const seen = objects.get(id)
        // What Frigate itself names has moved, whatever the last message about it said.
        return seen ? [{ ...seen, isStill: seen.isStill || (seen.isUnmoved && !detections.includes(id)) }] : []
      })
      const isWhole = detections.every((id) => objects.get(id))
      const labels = names
        .map((name) => labelsOfName(name, options.owners()))
        .filter((possible) => !isWhole && !openItem.some(({ label }) => possible.includes(label)))
        .map(([label]) => label)
      return [
        ...openItem,
        ...[...new Set(labels)].map((label) => unnamed(item, label, zones)),
        ...[...new Set(audio)].map((sound) => unnamed(item, sound, [])),
      ]
    },
  }
}

/** What the rules and the record need of it. */
export function plainObject({
  id,
  label,
  score,
  zones,
  startedAt,
  seenAt,
  endedAt,
  isStill,
}: SeenObject): DetectedObject {
  return {
    id,
    label,
    score,
    zones,
    startedAt,
    ...(seenAt !== undefined && { seenAt }),
    ...(endedAt !== undefined && { endedAt }),
    isStill,
  }
}
