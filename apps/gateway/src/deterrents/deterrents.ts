/**
 * The deterrents of the device. The interlock decides (`interlock.ts`), the decision is on disk before anything is on
 * (`state-file.ts`), the supervisor switches (`supervisor/`), and the ledger records (`ledger.ts`).
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DisarmTime, Snooze, SnoozeOrder } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { makePrivateDirectory } from '../kernel/durable-file.ts'
import type { Place } from '../kernel/hours.ts'
import { createInterlock, type DeterrentState, type Firing, type FireRequest, type Output } from './interlock.ts'
import { openLedger } from './ledger.ts'
import type { LedgerEntry, NewLedgerEntry } from './ledger-entry.ts'
import type { Refusal } from './refusals.ts'
import type { Asker } from './saved-state.ts'
import type { DeterrentSettings } from './schema.ts'
import type { Scope } from './snoozes.ts'
import { openStateFile } from './state-file.ts'
import { instantNow, readBoot } from './supervisor/clock.ts'
import { openGuard } from './supervisor/guard.ts'
import type { Watch } from './watch.ts'

export type Deterrents = {
  /** Resolves when the device answered that it is on, or with the refusal. */
  fire(request: FireRequest): Promise<{ firing: Firing } | Refusal>
  /** Stops one deterrent or all; resolves when they are known to be off, or after 5 s; then it keeps trying. */
  stop(deterrent: string | undefined, by: Asker): Promise<void>
  /** False when the disk does not take it: the device then stays disarmed. */
  arm(by: Asker): Promise<boolean>
  /**
   * Like `stop` for all of them; nothing fires until `arm` or until the time is over, also after restarts and when the
   * disk is full.
   */
  disarm(by: Asker, lasts?: DisarmTime): Promise<void>
  /** Neither disarmed nor snoozed. */
  isArmed(): boolean
  /** As `disarm`, for the whole device or for what one camera sets off; it ends by itself. False for too many. */
  snooze(by: Asker, order: SnoozeOrder): Promise<boolean>
  /** False when there is none. */
  endSnooze(by: Asker, scope: Scope): Promise<boolean>
  snoozes(): Snooze[]
  /** Whether the whole device or this camera is snoozed. */
  isSnoozed(camera: string): boolean
  /** By whom it is disarmed, since when and until when, by the wall clock; undefined while it is armed. */
  disarmed(): { by: string; at: number; until: number | null } | undefined
  /** Call it when a person is on this camera. */
  personSeen(camera: string, holdMs?: number): void
  list(): DeterrentState[]
  /** Newest first. */
  ledger(options: { before?: number | undefined; limit: number }): Promise<LedgerEntry[]>
  /** Oldest first, after an id: for readers that were disconnected. */
  ledgerAfter(id: number, limit: number): Promise<LedgerEntry[]>
  /** Adds an entry that is about no deterrent; a failure is logged. */
  note(entry: NewLedgerEntry): Promise<void>
  /** `listener` gets new entries, each once and in order. */
  onEntry(listener: (entry: LedgerEntry) => void): void
  /** Calls `listener` when a deterrent's state or block in `list` changed, or the device was armed or disarmed. */
  onChange(listener: () => void): void
  /** Applies new settings from gateway.yaml. */
  apply(settings: Readonly<Record<string, DeterrentSettings>>, place: Place): void
  /** One sentence each, for the heartbeat. */
  problems(): string[]
  /** The process that guards deterrents that are on; undefined while there is none, and then nothing fires. */
  supervisorPid(): number | undefined
  /** Whether that process answers, and how often it was lost or could not be started since the agent's start. */
  guarding(): { isGuarded: boolean; guardsLost: number }
  /** Switches everything off. */
  [Symbol.asyncDispose](): Promise<void>
}

export type DeterrentsOptions = {
  /** Deterrents have a folder of their own in it. */
  dataDir: string
  settings: Readonly<Record<string, DeterrentSettings>>
  place: Place
  log: Logger
  /** What the cameras do now. */
  watch: () => Watch
  /** Whether the object of a detection has disappeared; undefined when unknown. */
  isGone?: (detectionId: string) => boolean | undefined
}

const STOP_WAIT_MS = 5_000
const WRITE_AGAIN_MS = 5_000
const NOT_WRITTEN = 'The state of the deterrents cannot be written: nothing fires'
const LOOK_AFTER_MS = 60_000
/** How soon a change of the wall clock is noticed. */
const LOOK_MS = 1_000

export async function openDeterrents(options: DeterrentsOptions): Promise<Deterrents> {
  const { log } = options
  const folder = join(options.dataDir, 'deterrents')
  await makePrivateDirectory(folder)
  const boot = readBoot()
  const file = await openStateFile(join(folder, 'state.json'), boot)
  if (file.problem) log.error(file.problem)
  const ledger = await openLedger(join(folder, 'ledger'))
  const interlock = createInterlock({
    settings: options.settings,
    place: options.place,
    saved: file.found,
    boot,
    now: instantNow(),
    newId: randomUUID,
    watch: options.watch,
  })

  const pending = new Map<string, (answer: Answer) => void>()
  const listeners: ((entry: LedgerEntry) => void)[] = []
  const changeListeners: (() => void)[] = []
  let shown = ''
  const looks = new Set<NodeJS.Timeout>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let diskProblem: string | undefined
  /** When the last write failed, by the monotonic clock; undefined when the disk has the state. */
  let unwrittenSince: number | undefined

  const guard = openGuard({
    folder,
    log,
    units: interlock.units,
    onReady() {
      interlock.guarded()
      notifyChange()
    },
    onLost: () => run(interlock.unguarded(instantNow())),
    onEvent(unitId, event) {
      const now = instantNow()
      if (event.event === 'on') run(interlock.on(event.firing, event.answer, now))
      else if (event.event === 'failed') run(interlock.failed(event.firing, event.message, now, event.neverOn))
      else if (event.event === 'off') run(interlock.off(unitId, event.firing, event.answer, now))
      else run(interlock.fault(unitId, event.message, now))
    },
  })

  function run(outputs: readonly Output[]): void {
    for (const output of outputs) carryOut(output)
    notifyChange()
    schedule()
  }

  function notifyChange(): void {
    const states = interlock.list(instantNow()).map(({ name, state, blocked }) => [name, state, blocked?.code])
    const now = JSON.stringify([interlock.disarmed() ?? 'armed', interlock.snoozes(), states])
    if (now === shown) return
    shown = now
    for (const listener of changeListeners) listener()
  }

  function carryOut(output: Output): void {
    if (output.do === 'save') void save(output.version)
    else if (output.do === 'switch-on') guard.on(output.unit, output.firing, output.seconds)
    else if (output.do === 'switch-off') guard.off(output.unit)
    else if (output.do === 'guard') guard.guard()
    else if (output.do === 'record') void record(output.entry)
    else if (output.do === 'answer') {
      pending.get(output.firing)?.(output.answer)
      pending.delete(output.firing)
    } else lookLater(output)
  }

  /** False when the disk does not take it. It is then tried again every few seconds. */
  async function write(): Promise<boolean> {
    try {
      await file.write(() => interlock.saved(instantNow()))
      diskProblem = undefined
      unwrittenSince = undefined
      return true
    } catch (error) {
      if (diskProblem === undefined) log.error({ err: error }, 'the state of the deterrents cannot be written')
      diskProblem ??= NOT_WRITTEN
      unwrittenSince = instantNow().mono
      return false
    }
  }

  async function save(version: number): Promise<void> {
    const isWritten = await write()
    run(isWritten ? interlock.written(version, instantNow()) : interlock.notWritten(version, instantNow()))
  }

  async function record(entry: NewLedgerEntry): Promise<void> {
    try {
      const written = await ledger.append(entry)
      for (const listener of listeners) listener(written)
    } catch (error) {
      log.error({ err: error, entry }, 'the ledger of the deterrents cannot be written')
    }
  }

  function lookLater({ firing, deterrent, by }: Extract<Output, { do: 'look-later' }>): void {
    if (isClosed || by.kind !== 'rule') return
    const look = setTimeout(() => {
      looks.delete(look)
      const gone = options.isGone?.(by.detectionId) ?? null
      void record({ at: Date.now(), kind: 'looked', deterrent, firing, by, gone })
    }, LOOK_AFTER_MS)
    look.unref()
    looks.add(look)
  }

  function schedule(): void {
    clearTimeout(timer)
    if (isClosed) return
    const deadline = interlock.nextDeadline() ?? Infinity
    const waitMs = Math.max(0, Math.min(LOOK_MS, deadline - instantNow().mono))
    timer = setTimeout(look, waitMs)
    timer.unref()
  }

  function look(): void {
    const now = instantNow()
    if (unwrittenSince !== undefined && now.mono - unwrittenSince > WRITE_AGAIN_MS) {
      unwrittenSince = now.mono
      void write()
    }
    run(interlock.tick(now))
  }

  /** What happened is that it is disarmed, whatever the disk says. */
  async function writeDisarmed(): Promise<void> {
    if ((await write()) || (await file.empty())) return
    diskProblem = `${NOT_WRITTEN}. After a restart the device is armed again`
  }

  /** Waits until one or all are known to be off, at most 5 s. */
  async function quiet(deterrent: string | undefined): Promise<void> {
    const deadline = instantNow().mono + STOP_WAIT_MS
    while (instantNow().mono < deadline) {
      const active = interlock
        .list(instantNow())
        .some(({ name, state }) => state === 'active' && (deterrent ?? name) === name)
      if (!active) return
      await sleep(20)
    }
  }

  /** Nobody looks at the device's page any more: only the terminal or the journal is left. */
  function sayWhatIsLeft(supervisor: number | undefined): void {
    const names = interlock.notOff().join(', ')
    const next =
      supervisor === undefined
        ? 'Nothing tries again until the next start: switch it off on site'
        : `Process ${supervisor} goes on switching it off, and ends once it is off, or after a day ("ps -p ` +
          `${supervisor}" shows it)`
    log.error({ deterrents: interlock.notOff(), supervisor }, `not known to be off: ${names}. ${next}`)
  }

  guard.guard()

  return {
    fire(request) {
      const answer = Promise.withResolvers<Answer>()
      const { firing, outputs } = interlock.request(request, instantNow())
      pending.set(firing, answer.resolve)
      run(outputs)
      return answer.promise
    },
    async stop(deterrent, by) {
      run(interlock.stop(deterrent, by, instantNow()))
      await quiet(deterrent)
    },
    async arm(by) {
      if (interlock.isArmed()) return true
      run(interlock.arm(by, instantNow()))
      if (await write()) return true
      run(interlock.disarm(by, instantNow()))
      return false
    },
    async disarm(by, lasts) {
      run(interlock.disarm(by, instantNow(), lasts))
      await Promise.all([writeDisarmed(), quiet(undefined)])
    },
    async snooze(by, order) {
      const outputs = interlock.snooze(by, instantNow(), order)
      if (!outputs) return false
      run(outputs)
      await Promise.all([writeDisarmed(), ...(order.camera === undefined ? [quiet(undefined)] : [])])
      return true
    },
    async endSnooze(by, scope) {
      const outputs = interlock.endSnooze(by, instantNow(), scope)
      run(outputs)
      await write()
      return outputs.length > 0
    },
    snoozes: interlock.snoozes,
    isSnoozed: interlock.isSnoozed,
    isArmed: interlock.isArmed,
    disarmed: interlock.disarmed,
    personSeen: (camera, holdMs) => run(interlock.personSeen(camera, instantNow(), holdMs)),
    list: () => interlock.list(instantNow()),
    ledger: ledger.newest,
    ledgerAfter: ledger.after,
    note: record,
    onEntry: (listener) => void listeners.push(listener),
    onChange: (listener) => void changeListeners.push(listener),
    apply: (settings, place) => run(interlock.apply(settings, place, instantNow())),
    supervisorPid: guard.pid,
    guarding: () => ({ isGuarded: guard.isReady(), guardsLost: guard.losses() }),
    problems: () => [file.problem, diskProblem, guard.problem()].filter((problem) => problem !== undefined),
    async [Symbol.asyncDispose]() {
      run(interlock.close(instantNow()))
      isClosed = true
      clearTimeout(timer)
      for (const look of looks) clearTimeout(look)
      const left = await guard.stop()
      if (!left.isAllOff) sayWhatIsLeft(left.supervisor)
      await file.write(() => interlock.saved(instantNow())).catch(() => {})
      await ledger.close()
    },
  }
}

type Answer = { firing: Firing } | Refusal
