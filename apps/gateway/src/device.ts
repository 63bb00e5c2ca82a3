import { join } from 'node:path'
import type { Detection, Heartbeat } from '@hedgerow/contract'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'
import type { Logger } from 'pino'
import { problemsOf, watchDeviceFile, type WatchedDeviceFile } from './device-file/device-file.ts'
import { checkNames, type KnownNames } from './device-file/known-names.ts'
import { vainParts } from './device-file/warnings.ts'
import type { NotedCandidate } from './detections/candidates.ts'
import { createIntake, type Intake } from './detections/intake.ts'
import { openRecord, RECORD_FILE, type DetectionRecord } from './detections/record.ts'
import { createDisarmInput } from './deterrents/disarm-input.ts'
import { openDeterrents, type Deterrents } from './deterrents/deterrents.ts'
import { createDeterrentTrial, type DeterrentTrial } from './deterrents/trial.ts'
import type { CameraState, Watch } from './deterrents/watch.ts'
import { openDetectionQueue, type DetectionQueue } from './hub/detection-queue.ts'
import type { ReportedParts } from './hub/hub-connection.ts'
import { createLearning, type Learning } from './learning/learning.ts'
import type { DeviceReport } from '@hedgerow/contract/local-api'
import { isPersonLabel } from './kernel/person-label.ts'
import { nameKey } from './kernel/same-name.ts'
import { createPictures } from './detections/pictures.ts'
import type { DetectedObject, Pictures } from './sources/source.ts'
import { namesLabel } from './rules/match.ts'
import { createRules } from './rules/rules.ts'
import { createSecondLook, type SecondLook } from './second-look/second-look.ts'
import { createProgramCameras } from './sources/program-cameras.ts'
import { createSources, type Sources } from './sources/sources.ts'

/** The device's parts that work without a hub: `gateway.yaml`, the sources and the intake of their detections. */
export type Device = {
  file: WatchedDeviceFile
  queue: DetectionQueue
  /** Recent detections with their pictures. */
  record: DetectionRecord
  intake: Intake
  sources: Sources
  pictures: Pictures
  deterrents: Deterrents
  deterrentTrial: DeterrentTrial
  learning: Learning
  /** The record's reviews; learning gets new ones. */
  reviews: DetectionRecord['reviews']
  secondLook: Pick<SecondLook, 'useHub'>
  /** What the sources provide, for checks of names in gateway.yaml. */
  knownNames(): KnownNames
  /** Takes the detections of the owner's programs. */
  reportOfProgram: Intake['report']
  /** Sets what the owner's programs report, in addition to the device's own parts. */
  setProgramStatus(status: DeviceReport): void
  /** The parts' states for the heartbeat, at most as many of each as the contract allows. */
  parts(): ReportedParts & Pick<Heartbeat, 'learning'>
}

/** The actor in the ledger for the disarm input. */
const DISARM_INPUT = { kind: 'person', name: 'disarm input', via: 'device' } as const
const WATCH_OF_STATE = {
  online: 'looking',
  frozen: 'dark',
  covered: 'dark',
  turned: 'dark',
  unfocused: 'dark',
  offline: 'dark',
  disabled: 'off',
} as const
/** Names of cameras come with detections, so their number is limited. */
const CAMERAS_MAX = 256
const PROBLEM_MAX_CHARACTERS = 200
const MAXIMA = { cameras: 64, detectors: 16, deterrents: 64, problems: 32 } as const

/** Adds to `life` everything that must stop with the device. Rejects with DataFileError or the disk's error. */
export async function openDevice(
  options: {
    dataDir: string
    filePath: string
    /** Addresses of cameras from the command line. */
    givenCameras?: readonly string[] | undefined
    log: Logger
  },
  life: AsyncDisposableStack,
): Promise<Device> {
  const { dataDir, givenCameras = [], log } = options
  const queue = await openDetectionQueue(join(dataDir, 'detections'), log)
  life.defer(() => queue.close())
  const file = await watchDeviceFile(options.filePath, { log, givenCameras })
  life.defer(file.stop)
  const record = openRecord(join(dataDir, RECORD_FILE), { settings: () => file.current().record, log, clock: Date.now })
  life.defer(record.close)
  const { deterrents: settings, site: place } = file.current()
  const deterrents = await openDeterrents({ dataDir, settings, place, log, isGone, watch })
  life.use(deterrents)
  const deterrentTrial = createDeterrentTrial({ file: file.current, deterrents })
  life.defer(deterrentTrial.stop)
  const disarmInput = createDisarmInput({ onActive: () => deterrents.disarm(DISARM_INPUT), log })
  life.defer(disarmInput.stop)
  disarmInput.apply(file.current().disarmInput)
  const cameras = new Set<string>()
  const programCameras = createProgramCameras({
    names: record.programCameras(),
    note: noteProgramCamera,
    clock: () => performance.now(),
  })
  const rules = createRules({
    file: file.current,
    deterrents,
    cameras: () => [...cameras],
    markAsked: record.markAsked,
    onFiring: (id, firing) =>
      void intake
        .addFiring(id, firing)
        .catch((error: unknown) => log.error({ err: error }, 'a firing is not recorded')),
    log,
    clock: Date.now,
  })
  life.defer(rules.stop)
  const learning = createLearning({
    dataDir,
    settings: () => file.current().learning,
    place: () => file.current().site,
    masks: (camera) => file.current().cameras[camera]?.masks ?? [],
    reviews: record.reviews.all,
    picture: pictureToLearn,
    update: (id, change) => intake.update(id, change),
    log,
    clock: Date.now,
  })
  life.defer(learning.stop)
  const intake = createIntake({
    queue,
    record,
    judge: learning.judge,
    onSeen,
    onHeldBack: ({ camera, label }) => glimpse(camera, label),
    onPerson: (camera) => deterrents.personSeen(camera),
    isSnoozed: deterrents.isSnoozed,
    log,
  })
  /** Whether a person said that a detection is wrong. */
  const isWrong = (detectionId: string) => record.reviews.find(detectionId)?.verdict === 'wrong'
  const sources = createSources({
    log,
    dataDir,
    clock: Date.now,
    report: intake.report,
    follow: intake.follow,
    firesRule: (label) => file.current().rules.some((rule) => rule.enabled && namesLabel(rule, label)),
    glimpse,
    noteCandidate,
    isWrong,
  })
  life.defer(sources.stop)
  const secondLook = createSecondLook({
    file: file.current(),
    dataDir,
    snapshot: (detection, signal) => sources.pictures.snapshot(detection, { signal }),
    thumbnail: record.picture,
    onVerdict: (id, label, verdict) => intake.addVerdict(id, label, { ...verdict, by: file.conceal(verdict.by) }),
    log,
  })
  life.defer(secondLook.stop)
  let programStatus: DeviceReport = {}
  file.onChange((changed) => {
    deterrentTrial.apply(changed)
    disarmInput.apply(changed.disarmInput)
    secondLook.apply(changed)
    void sources.apply(changed)
  })
  await sources.apply(file.current())

  function noteCamera(camera: string): void {
    if (cameras.size < CAMERAS_MAX) cameras.add(camera)
  }

  function noteProgramCamera(name: string): void {
    try {
      record.noteProgramCamera(name)
    } catch (error) {
      log.error({ err: error, camera: name }, 'a camera of a program could not be stored')
    }
  }

  /** The cameras of programs, of the other sources, and those that gateway.yaml lists and nothing reports. */
  function watch(): Watch {
    const {
      cameras: listed,
      sources: { api },
    } = file.current()
    const own = sources.watch()
    const reported = new Map((programStatus.cameras ?? []).map(({ name, state }) => [name, WATCH_OF_STATE[state]]))
    const ofPrograms = [...programCameras.watch(reported)].filter(
      ([, state]) => api !== undefined || state !== 'silent',
    )
    const states = new Map<string, CameraState>(ofPrograms)
    // A program may look for persons where the device's own eye cannot.
    for (const [name, state] of own.cameras) if (state !== 'unable' || !states.has(name)) states.set(name, state)
    const seen = new Set([...states.keys()].map(nameKey))
    for (const [name, { url }] of Object.entries(listed))
      if (!seen.has(nameKey(name))) states.set(name, api && url === undefined ? 'silent' : 'missing')
    return { ...own, cameras: states }
  }

  function knownNames(): KnownNames {
    return { frigate: sources.frigateNames(), programs: programCameras.names(), learned: learning.names.known() }
  }

  function glimpse(camera: string, label: string, holdMs?: number): void {
    noteCamera(camera)
    if (isPersonLabel(label)) deterrents.personSeen(camera, holdMs)
  }

  function noteCandidate(camera: string, candidate: NotedCandidate): void {
    try {
      record.candidates.add(camera, candidate)
    } catch (error) {
      log.error({ err: error, camera }, 'a candidate could not be stored')
    }
  }

  function onSeen(detection: Detection, objects: readonly DetectedObject[] | undefined): void {
    noteCamera(detection.camera)
    rules.see(detection, objects)
    secondLook.see(detection)
  }

  async function pictureToLearn(detection: Detection, signal: AbortSignal) {
    const { thumbnail } = detection
    const part = thumbnail === undefined ? record.picture(detection.id) : Buffer.from(thumbnail, 'base64')
    const jpeg = part ?? (await sources.pictures.snapshot(detection, { signal }))
    if (!jpeg) return undefined
    // The picture decoder takes memory that a device without pictures does not need.
    const { decodeJpeg } = await import('./cameras/decode.ts')
    return { image: await decodeJpeg(jpeg), isWhole: part === undefined }
  }

  /** Undefined when it is unknown: sources need not report the end. */
  function isGone(detectionId: string): boolean | undefined {
    return record.find(detectionId)?.endedAt === undefined ? undefined : true
  }

  function parts(): ReturnType<Device['parts']> {
    const own = sources.state()
    const ofParts = [
      ...deterrents.problems(),
      ...disarmInput.problems(),
      ...rules.problems(),
      ...secondLook.problems(),
      ...own.problems,
    ]
    const found = [
      ...file.problems(),
      ...vainParts(file.current(), learning.names),
      ...problemsOf(checkNames(file.current(), file.names(), knownNames()).errors),
      ...ofParts.map(file.conceal),
    ]
    const problems = [...found, ...(programStatus.problems ?? [])].map((text) => text.slice(0, PROBLEM_MAX_CHARACTERS))
    const cameras = [...own.cameras, ...(programStatus.cameras ?? [])]
      .toSorted((a, b) => byNaturalOrder(a.name, b.name))
      .slice(0, MAXIMA.cameras)
    const disarmed = deterrents.disarmed()
    return {
      armed: deterrents.isArmed(),
      ...(disarmed && { disarmed: { ...disarmed, by: disarmed.by.slice(0, PROBLEM_MAX_CHARACTERS) } }),
      snoozes: deterrents.snoozes().map((one) => ({ ...one, by: one.by.slice(0, PROBLEM_MAX_CHARACTERS) })),
      timeZone: file.current().site.timeZone ?? Temporal.Now.timeZoneId(),
      learning: learning.state(),
      cameras,
      cameraProblems: cameras.flatMap(({ name }) => {
        const problem = sources.problemsOf(name)[0]
        return problem === undefined ? [] : [{ camera: name, problem: problem.slice(0, PROBLEM_MAX_CHARACTERS) }]
      }),
      detectors: [...own.detectors, ...(programStatus.detectors ?? [])].slice(0, MAXIMA.detectors),
      deterrents: [...deterrents.list(), ...(programStatus.deterrents ?? [])].slice(0, MAXIMA.deterrents),
      problems: problems.slice(0, MAXIMA.problems),
    }
  }

  return {
    file,
    queue,
    record,
    intake,
    sources,
    pictures: createPictures(sources.pictures, record, log),
    deterrents,
    deterrentTrial,
    learning,
    reviews: {
      ...record.reviews,
      put(gatewayId, reviews) {
        record.reviews.put(gatewayId, reviews)
        void learning
          .onReviews()
          .catch((error: unknown) =>
            log.error({ err: error }, 'held-back detections could not be updated after reviews'),
          )
      },
    },
    secondLook,
    knownNames,
    reportOfProgram(detections, more) {
      for (const { camera } of detections) programCameras.heard(camera)
      return intake.report(detections, more)
    },
    setProgramStatus(status) {
      for (const { name } of status.cameras ?? []) programCameras.heard(name)
      programStatus = { ...programStatus, ...status }
    },
    parts,
  }
}
