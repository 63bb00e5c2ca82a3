/**
 * Frigate's messages, from its documentation and from messages of 0.16, 0.17 and 0.18. Times are seconds since 1970
 * with fractions.
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
  score: number
  box: readonly [number, number, number, number]
  zones: readonly string[]
  startTime: number
  endTime: number | null
  hasSnapshot: boolean
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
  /** Whether it detects, and what it tracks: `person` alone unless its owner adds more (config/camera/objects.py:9). */
  detect: boolean
  track: readonly string[]
  zones: readonly string[]
}

/** The form of `GET /api/review`, and of `after` in a message on the topic `reviews`. */
export function reviewShape(version: FrigateVersion, item: ReviewItem): Record<string, unknown> {
  return {
    id: item.id,
    camera: item.camera,
    start_time: item.startTime,
    end_time: item.endTime,
    severity: item.severity,
    thumb_path: `/media/frigate/clips/review/thumb-${item.camera}-${item.id}.webp`,
    data: {
      detections: item.objects.map(({ id }) => id),
      objects: [...new Set(item.objects.map(({ label }) => label))],
      sub_labels: [],
      zones: item.zones,
      audio: item.audio,
      ...(version !== '0.16' && { verified_objects: [], thumb_time: item.startTime, metadata: null }),
    },
  }
}

/** The form of `GET /api/events/ID`: the box in fractions. */
export function eventShape(version: FrigateVersion, object: TrackedObject): Record<string, unknown> {
  const [x, y, width, height] = object.box
  return {
    id: object.id,
    label: object.label,
    sub_label: null,
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
      top_score: object.score,
      attributes: [],
      type: 'object',
      ...(version !== '0.16' && { path_data: [[[x, y], object.startTime]] }),
    },
  }
}

/** The form of `before` and `after` in a message on the topic `events`: the box in pixels, left, top, right, bottom. */
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
    frame_time: object.startTime,
    snapshot: { frame_time: object.startTime, box, area: 1, region: [0, 0, 1, 1], score: object.score, attributes: [] },
    label: object.label,
    sub_label: null,
    top_score: object.score,
    false_positive: false,
    start_time: object.startTime,
    end_time: object.endTime,
    score: object.score,
    box: box.map(Math.round),
    area: 23_744,
    ratio: 2.1,
    region: [264, 450, 667, 853],
    current_zones: object.zones,
    entered_zones: object.zones,
    has_snapshot: object.hasSnapshot,
    has_clip: false,
    active: true,
    stationary: false,
    motionless_count: 0,
    position_changes: 2,
    attributes: {},
    current_attributes: [],
    pending_loitering: false,
    ...(version !== '0.16' && { path_data: [], recognized_license_plate: null }),
    ...(version === '0.18' && { current_estimated_speed: 0, velocity_angle: 0 }),
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
      [...cameras].map(([name, { enabled, fps }]) => [
        name,
        {
          ...numbers,
          camera_fps: enabled ? fps : 0,
          detection_enabled: version === '0.16' ? 1 : true,
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
    cameras: Object.fromEntries(
      [...cameras].map(([name, { enabled, record, fps, width, height, detect, track, zones }]) => [
        name,
        {
          name,
          ...(version !== '0.16' && { friendly_name: name }),
          enabled,
          detect: { enabled: detect, fps, width, height, stationary: { threshold: 50 } },
          record: { enabled: record, alerts: { pre_capture: 5 } },
          review: { alerts: { enabled: true, labels: ['person', 'boar'] }, detections: { enabled: true } },
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
