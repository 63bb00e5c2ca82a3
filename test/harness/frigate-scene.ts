import { randomBytes } from 'node:crypto'
import {
  reviewShape,
  trackedShape,
  type CameraSettings,
  type FrigateVersion,
  type ReviewItem,
  type TrackedObject,
} from './frigate-shapes.ts'

/** What happens in front of the cameras, and what Frigate publishes about it. */
export type FrigateScene = {
  /** Starts a tracked object and a review item now. Returns the review item. A camera has one open item at most. */
  see(seen?: Partial<Seen>): ReviewItem
  /** Starts a tracked object that is in no review item yet, and publishes it on `events`. */
  track(seen?: Partial<Seen>): TrackedObject
  /**
   * Adds another object to a current review item: one of `track`, or a new one. `reviews` says so only when more
   * objects are active than before, or the severity rises (review/maintainer.py:451-460).
   */
  join(review: ReviewItem, seen?: Partial<Seen> | TrackedObject): TrackedObject
  /**
   * The object changed, and `events` says so (track/object_processing.py:130). Its zones become those of its open
   * review item, without a word on `reviews` (review/maintainer.py:445-449).
   */
  move(object: TrackedObject, change?: Partial<TrackedObject>): void
  /** The object left. Nothing is published on `reviews`. */
  leave(object: TrackedObject): void
  /** Publishes a change of an item that Frigate publishes: a higher severity, or a sub label more. */
  update(review: ReviewItem): void
  /** Ends an item: `end` comes some time after `endTime` (review/maintainer.py:493-496), and its objects have left. */
  end(review: ReviewItem, endTime?: number): void
  /** `POST /events/CAMERA/LABEL/create`: no message on `events`, and the item begins with an `update`. */
  create(camera: string, label: string, more?: { subLabel?: string; score?: number }): ReviewItem
  /** A sound without an object: the item begins with an `update` too (review/maintainer.py:727-736). */
  hear(camera: string, sound: string): ReviewItem
}

export type Seen = {
  camera: string
  label: string
  subLabel: string | undefined
  score: number
  /** Null: Frigate's settings want no review item of it. */
  severity: string | null
  box: readonly [number, number, number, number]
  zones: readonly string[]
  startTime: number
  hasSnapshot: boolean
  positionChanges: number
}

export const CAMERA: CameraSettings = {
  enabled: true,
  record: true,
  fps: 5.1,
  width: 1280,
  height: 720,
  detect: true,
  track: ['person', 'boar', 'deer', 'fox', 'cat', 'dog', 'car'],
  alerts: true,
  detections: true,
  zones: ['gate', 'rows'],
}
/** An item ends so many seconds after the last activity (config/camera/review.py:46,80). */
const CUTOFF_SECONDS: Readonly<Record<string, number>> = { alert: 40, detection: 30 }

/** `forget`: a restart writes an end to what is open, without a message. */
export function createScene(site: {
  version: FrigateVersion
  cameras: Map<string, CameraSettings>
  reviews: Map<string, ReviewItem>
  objects: Map<string, TrackedObject>
  publish(topic: string, payload: unknown): void
}): FrigateScene & { forget(): void } {
  const { version, cameras, reviews, objects, publish } = site
  /** The open item of each camera. */
  const open = new Map<string, ReviewItem>()
  /** How many objects the last picture of an item showed. */
  const shown = new Map<ReviewItem, number>()

  function tell(type: 'new' | 'update' | 'end', item: ReviewItem, before = item): void {
    shown.set(item, Math.max(shown.get(item) ?? 0, item.objects.filter(({ endTime }) => endTime === null).length))
    publish('reviews', { type, before: reviewShape(version, before), after: reviewShape(version, item) })
  }

  function tellObject(type: 'new' | 'update' | 'end', object: TrackedObject): void {
    const shape = trackedShape(version, object, cameras.get(object.camera) ?? CAMERA)
    // Before it is sure, Frigate says nothing: the first message is `new` (track/object_processing.py:137).
    publish('events', { type, before: { ...shape, false_positive: type === 'new' }, after: shape })
  }

  function track(seen: Partial<Seen>): TrackedObject {
    const startTime = seen.startTime ?? Date.now() / 1_000
    const score = seen.score ?? 0.87
    const object: TrackedObject = {
      id: `${startTime.toFixed(6)}-${randomBytes(3).toString('hex')}`,
      camera: seen.camera ?? 'orchard',
      label: seen.label ?? 'boar',
      subLabel: seen.subLabel,
      score,
      topScore: score,
      box: seen.box ?? [0.25, 0.5, 0.125, 0.25],
      currentZones: seen.zones ?? [],
      zones: seen.zones ?? [],
      startTime,
      endTime: null,
      hasSnapshot: seen.hasSnapshot ?? true,
      stationary: false,
      positionChanges: seen.positionChanges ?? 2,
      severity: seen.severity === undefined ? 'alert' : seen.severity,
      by: 'object',
    }
    objects.set(object.id, object)
    tellObject('new', object)
    return object
  }

  function openItem(camera: string, more: Partial<ReviewItem>): ReviewItem {
    if (open.has(camera)) throw new Error(`Frigate has one open review item of a camera: join the one of ${camera}`)
    if (!cameras.get(camera)?.record)
      throw new Error(`Frigate has no review items of ${camera}: it records nothing of it`)
    const startTime = more.startTime ?? Date.now() / 1_000
    const item: ReviewItem = {
      id: `${startTime.toFixed(6)}-r${randomBytes(3).toString('hex')}`,
      camera,
      severity: 'alert',
      startTime,
      endTime: null,
      zones: [],
      objects: [],
      audio: [],
      ...more,
    }
    reviews.set(item.id, item)
    open.set(camera, item)
    return item
  }

  function zonesOf(item: ReviewItem): string[] {
    return [...new Set([...item.zones, ...item.objects.flatMap(({ currentZones }) => currentZones)])]
  }

  return {
    see(seen = {}) {
      const object = track(seen)
      const { camera, startTime, zones } = object
      const severity = object.severity ?? 'detection'
      const item = openItem(camera, { startTime, severity, zones: [...zones], objects: [object] })
      tell('new', item)
      return item
    },
    track: (seen = {}) => track(seen),
    join(item, seen = {}) {
      const known = 'topScore' in seen ? seen : undefined
      const object = known ?? track({ camera: item.camera, ...(seen as Partial<Seen>) })
      const before = { ...item }
      item.objects.push(object)
      item.zones = zonesOf(item)
      if (object.severity === 'alert') item.severity = 'alert'
      const active = item.objects.filter(({ endTime }) => endTime === null).length
      if (item.severity !== before.severity || active > (shown.get(item) ?? 0)) tell('update', item, before)
      return object
    },
    move(object, change = {}) {
      Object.assign(object, change)
      object.topScore = Math.max(object.topScore, object.score)
      object.currentZones = change.zones ?? object.currentZones
      tellObject('update', object)
      const item = open.get(object.camera)
      if (item?.objects.includes(object)) item.zones = zonesOf(item)
    },
    leave(object) {
      object.endTime = Date.now() / 1_000
      tellObject('end', object)
    },
    update: (item) => tell('update', item),
    end(item, endTime = Math.max(item.startTime, Date.now() / 1_000 - (CUTOFF_SECONDS[item.severity] ?? 30))) {
      for (const object of item.objects) {
        if (object.endTime !== null || object.by !== 'object') continue
        object.endTime = endTime
        tellObject('end', object)
      }
      item.endTime = endTime
      open.delete(item.camera)
      tell('end', item)
    },
    create(camera, label, { subLabel, score = 0 } = {}) {
      const startTime = Date.now() / 1_000
      const object: TrackedObject = {
        id: `${startTime.toFixed(6)}-${randomBytes(3).toString('hex')}`,
        camera,
        label,
        subLabel,
        score,
        topScore: score,
        box: [0, 0, 1, 1],
        currentZones: [],
        zones: [],
        startTime,
        endTime: null,
        hasSnapshot: true,
        stationary: false,
        positionChanges: 0,
        severity: 'alert',
        by: 'api',
      }
      objects.set(object.id, object)
      const item = openItem(camera, { startTime, objects: [object] })
      tell('update', item)
      return item
    },
    hear(camera, sound) {
      const item = openItem(camera, { severity: 'detection', audio: [sound] })
      tell('update', item)
      return item
    },
    forget() {
      const now = Date.now() / 1_000
      for (const item of open.values()) item.endTime = now
      for (const object of objects.values()) object.endTime ??= now
      open.clear()
    },
  }
}
