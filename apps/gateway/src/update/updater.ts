/**
 * Updates this agent to the release that its hub names. The root keys of the installation decide what may be installed:
 * the hub only passes on the signed lists and the archive, and can at most withhold them. `versions.ts` has the steps
 * on disk, `trial.ts` the trial of the new version, and `launch.sh` starts it and gives it up when it crashes or hangs.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { DeviceUpdates, Heartbeat, WantedUpdate } from '@hedgerow/contract'
import { readRelease, type ReleaseRefusal } from '@hedgerow/releases'
import type { Logger } from 'pino'
import { isWithin, type Place } from '../kernel/hours.ts'
import { inWords } from '../kernel/failure.ts'
import type { AgentUpdates, Download } from '../hub/tunnel-download.ts'
import { fetchArchive, fetchList, unpack } from './archive.ts'
import type { Comparison } from './comparison.ts'
import type { UpdatesSettings } from './schema.ts'
import { openTimeFloor } from './time-floor.ts'
import { startTrial, type TrialPace } from './trial.ts'
import type { UpdateFile } from './update-file.ts'
import { isBackFromConfirmed, LEFT, type VersionOnDisk, type Versions } from './versions.ts'

export type Updater = AgentUpdates & {
  running: VersionOnDisk
  /** The update that the hub asks for, for people. */
  state(): UpdaterState
  /** Restarts as the version before. */
  goBack(): Promise<Rollback>
  stop(): Promise<void>
}

/** The version that starts next, or why none does, in a sentence. */
export type Rollback = { version: string } | { problem: string }

export type UpdaterState = Pick<DeviceUpdates, 'state' | 'message' | 'offered' | 'checkedAt'>

/**
 * An update that failed; the version is unknown until the list of the release was read. `wasConfirmed`: it crashed
 * later.
 */
export type UpdateFailure = { number: number; version: string | null; message: string; wasConfirmed?: boolean }

export type UpdaterOptions = {
  versions: Versions
  /** Ed25519, 32 bytes as base64: who may sign release keys. */
  rootKeys: readonly string[]
  memory: UpdateFile
  /** The folder for the archive, on the file system of the versions. */
  folder: string
  settings: () => UpdatesSettings
  place: () => Place
  /** Whether a deterrent is on, so that the agent must not restart now. */
  isBusy: () => boolean
  onFailure: (failure: UpdateFailure) => void
  /** Whether this device went back from that release after it had been confirmed. */
  hasCrashed: (number: number) => boolean
  comparison: Comparison
  trialPace?: TrialPace | undefined
  /** Ends this agent; the launcher starts the next version. */
  restart: () => void
  log: Logger
  clock?: () => number
  platform?: string
  pause?: { firstMs: number; maxMs: number }
}

type State = NonNullable<Heartbeat['update']>['state']

/** The update has to wait for something that passes by itself. */
class NotNow extends Error {}

const MESSAGE_MAX = 500
const DISAGREE_MS = 86_400_000
/** The answer to the command is sent before the agent ends. */
const ANSWERED_MS = 200
/** Where an older launcher does not say it. */
const GAVE_UP = 'sent no heartbeat through the tunnel in time, or ended three times'

/** Makes a sentence: a capital letter and a full stop. */
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Rejects with the disk's error. */
export async function openUpdater(options: UpdaterOptions): Promise<Updater> {
  const { versions, memory, log, clock = Date.now } = options
  const platform = options.platform ?? `${process.platform}-${process.arch}`
  const stopping = new AbortController()
  let notify = () => {}
  let state: Heartbeat['update']
  let offered: WantedUpdate | undefined
  let checkedAt: string | null = null
  /** From the list of the release that was read last. */
  let listed: VersionOnDisk | undefined
  let running: Promise<void> | undefined
  /** Writes to the same file as `running`, so they take turns. */
  let keeping: Promise<void> | undefined
  let isEnding = false
  const archive = join(options.folder, 'archive')
  // The number of a release is the time of its last commit, in seconds.
  const floor = openTimeFloor(memory, { madeAt: versions.running.number * 1000, clock, log })
  let { failure } = memory.current()
  if (versions.failed) {
    const { version, number, why = GAVE_UP } = versions.failed
    const words = `it ${why}; version ${versions.running.version} runs again`
    failure = `Version ${version}: ${words}.`
    log.error({ version }, `an update was given up: ${words}`)
    options.onFailure({ version, number, message: sentence(words), wasConfirmed: isBackFromConfirmed(versions.failed) })
    // When the disk takes no writes, each start finds the failure again.
    await memory
      .write({ ...memory.current(), failure })
      .then(versions.clearFailure)
      .catch((error: unknown) => log.error({ err: error }, 'that could not be written'))
  }

  function show({ number, attempt }: WantedUpdate, next: State, message = ''): void {
    const shown = { number, attempt, state: next, message: message.slice(0, MESSAGE_MAX) }
    if (isDeepStrictEqual(shown, state)) return
    state = shown
    log.info({ number, state: next, message }, 'update')
    notify()
  }

  function parts(): Pick<Heartbeat, 'release' | 'update'> {
    const { number } = versions.running
    const release = { number, platform }
    if (versions.isOnTrial()) {
      const attempt = memory.current().begun?.attempt ?? 1
      return { release, update: { number, attempt, state: 'trying', message: trial?.progress() ?? '' } }
    }
    const update = state ?? lastFailure()
    return { release, ...(update && { update }) }
  }

  /** Reported until another update begins: the hub may learn of it only now, and have no request open. */
  function lastFailure(): Heartbeat['update'] {
    const { begun } = memory.current()
    if (!begun || failure === undefined || begun.number <= versions.running.number) return undefined
    return { ...begun, state: 'failed', message: failure.slice(0, MESSAGE_MAX) }
  }

  function endTrial(outcome: 'confirmed' | 'given-up'): void {
    if (outcome === 'given-up') {
      log.error('this version gives itself up: the version before starts')
      isEnding = true
      return options.restart()
    }
    log.info({ version: versions.running.version }, 'this version is confirmed')
    notify()
  }

  async function update(wanted: WantedUpdate, serverTime: number, download: Download): Promise<void> {
    try {
      await keeping
      waitForRest(wanted)
      const file = await findFile(wanted, serverTime, download)
      show(wanted, 'fetching')
      const { signal } = stopping
      const onProgress = (how: string) => show(wanted, 'fetching', how)
      await fetchArchive(archive, file, {
        download,
        signal,
        onProgress,
        ...(options.pause && { pause: options.pause }),
      })
      waitForRest(wanted)
      await memory.write({
        seen: memory.current().seen,
        begun: { number: wanted.number, attempt: wanted.attempt },
      })
      failure = undefined
      await options.comparison.remember()
      await versions.tryNext((directory) => unpack(archive, directory), file.expected)
      await rm(archive, { force: true })
      isEnding = true
      log.info({ version: file.expected.version }, 'restarts as this version')
      options.restart()
    } catch (error) {
      await rm(archive, { force: true }).catch(() => {})
      if (stopping.signal.aborted) return
      if (error instanceof NotNow) return show(wanted, 'waiting', error.message)
      log.warn({ err: error }, 'an update failed')
      const message = sentence(inWords(error))
      options.onFailure({ number: wanted.number, version: versionOf(wanted), message })
      show(wanted, 'failed', message)
    }
  }

  /** Finds the archive for this device, by lists that the root keys prove. */
  async function findFile(wanted: WantedUpdate, serverTime: number, download: Download) {
    const { signal } = stopping
    const given = {
      keys: await fetchList(download, 'keys.json', signal),
      release: await fetchList(download, 'release.json', signal),
    }
    const { seen } = memory.current()
    const trusted = { keys: seen.keys, release: Math.max(seen.release, versions.running.number) }
    const now = floor.now(serverTime)
    const answer = readRelease(given, { rootKeys: options.rootKeys, seen: trusted, now })
    if (!answer.ok) {
      if (answer.keys && answer.keys.number > seen.keys)
        await memory.write({ ...memory.current(), seen: { ...seen, keys: answer.keys.number } })
      throw new Error(answer.message.replace(/\.$/, '') + clocksInWords(answer.code, serverTime))
    }
    const { release, keys } = answer
    listed = release
    const createdAt = Math.max(floor.passed(), Date.parse(release.createdAt))
    await memory.write({ ...memory.current(), seen: { keys: keys.number, release: release.number, createdAt } })
    if (release.number !== wanted.number) throw new NotNow('The hub hands out another release than it asks for.')
    const file = release.files.find((one) => one.product === 'hedgerow-gateway' && one.platform === platform)
    if (!file) throw new Error(`the release has no gateway for ${platform}`)
    return { ...file, expected: { version: release.version, number: release.number } }
  }

  /** Which clocks a person has to look at, where they disagree about an expiry. */
  function clocksInWords(code: ReleaseRefusal, serverTime: number): string {
    const isExpired = code === 'expired' || code === 'keys-expired'
    if (!isExpired || Math.abs(clock() - serverTime) < DISAGREE_MS) return ''
    const day = (time: number) => new Date(time).toISOString().slice(0, 10)
    return `; this device's clock says ${day(clock())}, the hub's ${day(serverTime)}: set the one that is wrong`
  }

  function waitForRest({ byHand, number }: WantedUpdate): void {
    const { enabled, hours } = options.settings()
    if (!enabled) throw new Error('gateway.yaml of this device switches updates off')
    // Otherwise a hub that asks by itself would bring it back again and again.
    if (!byHand && options.hasCrashed(number))
      throw new Error('this device went back from that version, so only a person can ask for it again')
    if (!byHand && hours !== undefined && !isWithin(hours, clock(), options.place()))
      throw new NotNow(`For its hours, ${[hours].flat().join(', ')}.`)
    if (options.isBusy()) throw new NotNow('For a deterrent to be off.')
  }

  function versionOf({ number }: WantedUpdate): string | null {
    return listed?.number === number ? listed.version : null
  }

  function isOf(wanted: Pick<WantedUpdate, 'number' | 'attempt'>, one: typeof wanted | undefined): boolean {
    return one?.number === wanted.number && one.attempt === wanted.attempt
  }

  function shown(): UpdaterState {
    if (versions.isOnTrial()) return { state: 'trying', message: trial?.progress() ?? '', offered: null, checkedAt }
    if (!offered) return { state: 'current', message: '', offered: null, checkedAt }
    const { number, byHand } = offered
    const own = isOf(offered, state) ? state : undefined
    return {
      // Without a state yet, the lists of the release are being read.
      state: own?.state ?? 'fetching',
      message: own?.message ?? '',
      offered: { number, version: versionOf(offered), byHand },
      checkedAt,
    }
  }

  const trial = versions.isOnTrial()
    ? startTrial({
        versions,
        comparison: options.comparison,
        isBusy: options.isBusy,
        onProgress: () => notify(),
        onEnd: endTrial,
        log,
        pace: options.trialPace,
      })
    : undefined

  return {
    running: versions.running,
    parts,
    state: shown,
    onChange: (listener) => (notify = listener),
    heard({ update: wanted, serverTime, features }, download) {
      if (features?.includes('updates')) checkedAt = new Date(clock()).toISOString()
      if (!running) keeping ??= floor.heard(serverTime).finally(() => (keeping = undefined))
      if (versions.isOnTrial()) return trial?.heard()
      options.comparison.look()
      if (!wanted || wanted.number <= versions.running.number) {
        if (!running) offered = state = undefined
        return
      }
      offered = wanted
      if (isOf(wanted, memory.current().begun) && failure !== undefined) return show(wanted, 'failed', failure)
      if (isEnding || running || (isOf(wanted, state) && state?.state === 'failed')) return
      running = update(wanted, serverTime, download).finally(() => (running = undefined))
    },
    async goBack() {
      if (options.isBusy()) return { problem: 'A deterrent is on. Try again when it is off.' }
      if (isEnding || running) return { problem: 'An update is under way. Try again when it has ended.' }
      const before = await versions.before()
      if (!before) return { problem: 'There is no version before on this device.' }
      isEnding = true
      const { version, number } = versions.running
      await versions.giveUp(LEFT).catch((error: unknown) => {
        isEnding = false
        throw error
      })
      options.onFailure({ version, number, message: sentence(`it ${LEFT}`), wasConfirmed: true })
      log.warn({ version, before: before.version }, 'a person returns to the version before')
      setTimeout(options.restart, ANSWERED_MS)
      return { version: before.version }
    },
    async stop() {
      stopping.abort()
      await running
      await keeping
      await trial?.stop()
    },
  }
}
