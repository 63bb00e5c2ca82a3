/**
 * Frigate's messages and answers, read in its source: `file:line` are those of 0.18 (commit e3fa7018), below its folder
 * `frigate`. Times are seconds since 1970 with fractions.
 */
export type FrigateVersion = '0.16' | '0.17' | '0.18'

export const FULL_VERSION: Readonly<Record<FrigateVersion, string>> = {
  '0.16': '0.16.4-b5d1e8f',
  '0.17': '0.17.2-3a9f0c1',
  '0.18': '0.18.0-5f6043a',
}

/** One tracked object: Frigate calls it an event. `box` is x, y, width and height as fractions of the picture. */
export type TrackedObject = {
  id: string
  camera: string
  label: string
  /** A recognised face or plate, or an attribute such as `amazon`; undefined while there is none. */
  subLabel: string | undefined
  /** Of the last picture; `topScore` is the highest so far and never falls (track/tracked_object.py:174). */
  score: number
  topScore: number
  box: readonly [number, number, number, number]
  /** The zones where it is now, and those that it entered, in the order of entering. */
  currentZones: readonly string[]
  zones: readonly string[]
  startTime: number
  endTime: number | null
  hasSnapshot: boolean
  stationary: boolean
  /** 0 until it moved: then no review item has it (review/maintainer.py:215). */
  positionChanges: number
  /** What Frigate's own settings make of it (track/tracked_object.py:75); null when they want no review item of it. */
  severity: string | null
  /** Who made it: the detector, a program (`POST /events/CAMERA/LABEL/create`), or the microphone. */
  by: 'object' | 'api' | 'audio'
}

export type ReviewItem = {
  id: string
  camera: string
  severity: string
  startTime: number
  endTime: number | null
  zones: string[]
  objects: TrackedObject[]
  audio: string[]
}

export type CameraSettings = {
  enabled: boolean
  /** Without recordings, Frigate makes no review items. */
  record: boolean
  fps: number
  /** The size in pixels of the stream that Frigate detects on. */
  width: number
  height: number
  /** `detect.enabled`, which is false unless somebody sets it (config/camera/detect.py:48). */
  detect: boolean
  /** `person` alone unless its owner adds more (config/camera/objects.py:9). */
  track: readonly string[]
  /** `review.alerts.enabled` and `review.detections.enabled` (config/camera/review.py:23,63). */
  alerts: boolean
  detections: boolean
  zones: readonly string[]
}

/** Frigate's own (const.py:28). */
export const ATTRIBUTES = { person: ['amazon', 'face'], car: ['amazon', 'license_plate', 'ups'] }

/** How a review item names one of its objects (review/maintainer.py:436-442, track/object_processing.py:574). */
function nameInReview({ label, subLabel, by }: TrackedObject): string {
  if (subLabel === undefined) return label
  if (by === 'api') return `${label}: ${subLabel}`
  return Object.values(ATTRIBUTES).flat().includes(subLabel) ? subLabel : `${label}-verified`
}

/** The form of `GET /api/review`, and of `after` in a message on the topic `reviews`. */
export function reviewShape(version: FrigateVersion, item: ReviewItem): Record<string, unknown> {
  const names = item.objects.map(nameInReview)
  return {
    id: item.id,
    camera: item.camera,
    start_time: item.startTime,
    end_time: item.endTime,
    severity: item.severity,
    thumb_path: `/media/frigate/clips/review/thumb-${item.camera}-${item.id}.webp`,
    data: {
      // Both come from sets (review/maintainer.py:153-154): their order says nothing, and is not the same.
      detections: item.objects.map(({ id }) => id).toReversed(),
      objects: [...new Set(names)].toSorted(),
      sub_labels: item.objects.flatMap(({ subLabel }) => subLabel ?? []),
      zones: item.zones,
      audio: item.audio,
      ...(version !== '0.16' && {
        verified_objects: names.filter((name) => name.includes('-verified')),
        thumb_time: item.startTime,
        metadata: null,
      }),
    },
  }
}

/** The form of `GET /api/events/ID`: the box in fractions. */
export function eventShape(version: FrigateVersion, object: TrackedObject): Record<string, unknown> {
  const [x, y, width, height] = object.box
  return {
    id: object.id,
    label: object.label,
    sub_label: object.subLabel ?? null,
    camera: object.camera,
    start_time: object.startTime,
    end_time: object.endTime,
    top_score: null,
    false_positive: null,
    zones: object.zones,
    thumbnail: version === '0.16' ? '' : null,
    has_clip: true,
    has_snapshot: object.hasSnapshot,
    retain_indefinitely: false,
    plus_id: null,
    model_hash: 'b86500dc9b0ab1a5b5ba5d7a3a2bcb1d',
    detector_type: 'openvino',
    model_type: 'ssd',
    data: {
      box: [x, y, width, height],
      region: [0, 0, 1, 1],
      score: object.score,
      top_score: object.topScore,
      attributes: [],
      type: object.by,
      max_severity: object.severity,
      ...(version !== '0.16' && { path_data: [[[x, y], object.startTime]] }),
    },
  }
}

/**
 * The form of `before` and `after` in a message on the topic `events` (track/tracked_object.py:387-437): the box in
 * pixels, left, top, right, bottom. A sub label is a name and its score.
 */
export function trackedShape(
  version: FrigateVersion,
  object: TrackedObject,
  camera: CameraSettings,
): Record<string, unknown> {
  const [x, y, width, height] = object.box
  const box = [x * camera.width, y * camera.height, (x + width) * camera.width, (y + height) * camera.height]
  return {
    id: object.id,
    camera: object.camera,
    frame_time: object.endTime ?? Date.now() / 1_000,
    snapshot: { frame_time: object.startTime, box, area: 1, region: [0, 0, 1, 1], score: object.score, attributes: [] },
    label: object.label,
    sub_label: object.subLabel === undefined ? null : [object.subLabel, 0.91],
    top_score: object.topScore,
    false_positive: false,
    start_time: object.startTime,
    end_time: object.endTime,
    score: object.score,
    box: box.map(Math.round),
    area: 23_744,
    ratio: 2.1,
    region: [264, 450, 667, 853],
    current_zones: object.currentZones,
    entered_zones: object.zones,
    has_snapshot: object.hasSnapshot,
    has_clip: false,
    active: !object.stationary,
    stationary: object.stationary,
    motionless_count: object.stationary ? 51 : 0,
    position_changes: object.positionChanges,
    attributes: {},
    current_attributes: [],
    pending_loitering: false,
    max_severity: object.severity,
    ...(version !== '0.16' && { path_data: [], recognized_license_plate: null }),
    ...(version === '0.18' && { computed_score: object.score, current_estimated_speed: 0, velocity_angle: 0 }),
  }
}

export function statsShape(
  version: FrigateVersion,
  cameras: ReadonlyMap<string, CameraSettings>,
  inferenceMs: number,
): Record<string, unknown> {
  const numbers = { process_fps: 5, skipped_fps: 0, detection_fps: 1.2, pid: 412, capture_pid: 413, ffmpeg_pid: 414 }
  return {
    cameras: Object.fromEntries(
      [...cameras].map(([name, { enabled, fps, detect }]) => [
        name,
        {
          ...numbers,
          camera_fps: enabled ? fps : 0,
          detection_enabled: version === '0.16' ? Number(detect) : detect,
          audio_rms: 0,
          audio_dBFS: 0,
        },
      ]),
    ),
    detectors: { ov: { inference_speed: inferenceMs, detection_start: 0, pid: 402 } },
    detection_fps: 1.2,
    embeddings: {},
    cpu_usages: { 412: { cpu: '4.2', cpu_average: '4.0', mem: '1.1', cmdline: 'frigate.process:orchard' } },
    gpu_usages: { 'intel-gpu': { gpu: '3.1%', mem: '-%' } },
    service: {
      uptime: 86_400,
      version: FULL_VERSION[version],
      latest_version: '0.17.2',
      storage: { '/media/frigate/recordings': { total: 938_000, used: 510_000, free: 428_000, mount_type: 'ext4' } },
      temperatures: { apex_0: 51.3 },
      last_updated: 1,
    },
    processes: { go2rtc: { pid: 98 } },
    ...(version === '0.18' && { bandwidth_usages: {} }),
  }
}

export function configShape(
  version: FrigateVersion,
  cameras: ReadonlyMap<string, CameraSettings>,
): Record<string, unknown> {
  return {
    mqtt: { enabled: true, host: 'broker', port: 1883, topic_prefix: 'frigate', password: null },
    auth: { enabled: true, roles: { admin: [], viewer: [] } },
    ...(version === '0.18' && { profiles: {} }),
    model: { path: '/openvino-model/ssdlite_mobilenet_v2.xml', attributes_map: ATTRIBUTES },
    cameras: Object.fromEntries(
      [...cameras].map(([name, { enabled, record, fps, width, height, detect, track, alerts, detections, zones }]) => [
        name,
        {
          name,
          ...(version !== '0.16' && { friendly_name: name }),
          enabled,
          detect: { enabled: detect, fps, width, height, stationary: { threshold: 50 } },
          record: { enabled: record, alerts: { pre_capture: 5 } },
          review: { alerts: { enabled: alerts, labels: ['person', 'boar'] }, detections: { enabled: detections } },
          snapshots: { enabled: true },
          objects: { track, filters: {}, mask: '' },
          zones: Object.fromEntries(zones.map((zone) => [zone, { coordinates: '0,0,1,0,1,1', objects: [] }])),
        },
      ]),
    ),
  }
}

/** A JPEG of 96 by 54 pixels, a brown block on green, made with FFmpeg. */
const PICTURE = Buffer.from(
  '/9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAgoKC8oLzc3Nzc3N0E8QUNDQ0FBQUFDQ0NISEhVVVVISEhDQ0hIUFBVVVxfXFdXVVdfX2RkZHh4c3OMjJGsrM//xABWAAEBAQEAAAAAAAAAAAAAAAAAAwQGAQEBAQEBAAAAAAAAAAAAAAAAAwQCBRABAQAAAAAAAAAAAAAAAAAAABERAQEBAQEAAAAAAAAAAAAAAAABERIC/8AAEQgANgBgAwEiAAIRAAMRAP/aAAwDAQACEQMRAD8A4YBBiAAAAAAAAAAAAAAFYk0p1s8zU4RQS1r5jMA0vIAAAAAAF0BytLi4gOcW6oAoxgAAAAAAAAAAAAAP/9k=',
  'base64',
)

/** The picture, with `note` as its comment (ITU-T T.81 §B.2.4.5), so that a test can tell one from another. */
export function jpegOf(note: string, paddingBytes = 0): Buffer {
  const comments: Buffer[] = []
  for (let rest = note.padEnd(note.length + paddingBytes); rest.length > 0; rest = rest.slice(65_000)) {
    const text = Buffer.from(rest.slice(0, 65_000), 'latin1')
    comments.push(Buffer.from([0xff, 0xfe, (text.length + 2) >> 8, (text.length + 2) & 0xff]), text)
  }
  return Buffer.concat([PICTURE.subarray(0, 2), ...comments, PICTURE.subarray(2)])
}

/** The note in a picture of `jpegOf`. */
export function noteOf(jpeg: Uint8Array): string {
  const bytes = Buffer.from(jpeg)
  return bytes
    .subarray(6, 4 + bytes.readUInt16BE(4))
    .toString('latin1')
    .trimEnd()
}

/** Not a real clip: the first box of an MP4 file, then counting bytes. */
export function clipOf(bytes: number): Buffer {
  const start = Buffer.from('000000186674797069736f6d0000020069736f6d61766331', 'hex')
  return Buffer.concat([start, Buffer.from(Array.from({ length: bytes - start.length }, (_, index) => index % 251))])
}
