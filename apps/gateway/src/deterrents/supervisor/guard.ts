/** The agent's side of its supervisor: starts it, restarts it, and switches off by itself while there is none. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { DriverType } from '../drivers/driver.ts'
import type { GuardedUnit, Unit } from '../saved-state.ts'
import { createBoard, type Board } from './board.ts'
import { instantNow } from './clock.ts'
import { ALIVE_MS, SILENT_MS, type FromSupervisor, type ToSupervisor } from './messages.ts'
import { loadDrivers, opener } from './open-driver.ts'
import type { SwitchEvent } from './switch.ts'

export type Guard = {
  /** Replaces the units: those left out are switched off, then dropped. */
  guard(): void
  on(unit: Unit, firing: string, seconds: number): void
  off(unit: Unit): void
  /** The supervisor's process; undefined while there is none. */
  pid(): number | undefined
  /** Whether the supervisor runs and has the units. */
  isReady(): boolean
  /** How often there was none when there should have been. */
  losses(): number
  /** The reason why there is none. */
  problem(): string | undefined
  /** Resolves once all is known to be off, after some 5 s at most; a supervisor that is left keeps trying. */
  stop(): Promise<{ isAllOff: boolean; supervisor: number | undefined }>
}

export type GuardOptions = {
  /** The folder of the file `in-charge`, which names the supervisor in charge. */
  folder: string
  log: Logger
  /** The units to guard. */
  units(): readonly GuardedUnit[]
  /** All units are guarded. */
  onReady(): void
  /** The supervisor is gone or could not be started; the units that may be on must be passed to `off`. */
  onLost(): void
  onEvent(unitId: string, event: SwitchEvent): void
}

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const STOP_MS = 5_000
const STOP_LOOK_MS = 20
/**
 * A busy or slow device may need longer than `SILENT_MS` for a start, so each start after a loss has twice the time of
 * the one before, up to this. Nothing fires meanwhile, and `ownBoard` switches off what the lost supervisor had on.
 */
const START_MAX_MS = 40_000
const RESTART_FIRST_MS = 250
const RESTART_MAX_MS = 10_000
/** The supervisor handles a few small messages. */
const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=1']
/** Variables that commands and certificates need; none of the agent's own settings. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS', 'NODE_COMPILE_CACHE'] as const

export function openGuard(options: GuardOptions): Guard {
  const { folder, log, units, onReady, onLost, onEvent } = options
  let child: ChildProcess | undefined
  let isReady = false
  let unanswered = 0
  let failures = 0
  let losses = 0
  let problem: string | undefined
  let restart: NodeJS.Timeout | undefined
  let isStopping = false
  /** Switches off while there is no supervisor; it never switches on. */
  let ownBoard: Board | undefined
  let ownTurn: Promise<void> = Promise.resolve()
  const loaded = new Map<string, DriverType>()

  function start(): void {
    restart = undefined
    const name = randomUUID()
    try {
      // The folder may have vanished with its disk.
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(join(folder, 'in-charge'), name, { mode: 0o600 })
    } catch (error) {
      log.warn({ err: error }, 'the name of the supervisor in charge cannot be written')
    }
    let started: ChildProcess
    try {
      // Detached: it has a session of its own, so that Ctrl-C or a closed terminal does not end it.
      started = spawn(process.execPath, [...MEMORY, MAIN, join(folder, 'in-charge'), name], {
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        env: Object.fromEntries(PASSED_ON.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : []))),
      })
    } catch (error) {
      // Without memory spawn throws; other failures are events.
      return missing(String(error))
    }
    child = started
    unanswered = 0
    let lastWords = ''
    // Without a free file descriptor there is no pipe, and the error follows.
    started.stderr?.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-4_000)))
    started.on('message', (message) => receive(started, message as FromSupervisor))
    started.once('error', (error) => lost(started, error.message))
    started.once('exit', (code, signal) => {
      const isEnd = isStopping && code === 0
      if (isEnd && started === child) child = undefined
      else lost(started, lastWords.trim() || `it ended with ${signal ?? code}`)
    })
    send({ is: 'guard', units: units() })
  }

  function send(message: ToSupervisor): void {
    // A broken channel means that the process ends soon.
    if (child?.connected) child.send(message, () => {})
  }

  function receive(from: ChildProcess, message: FromSupervisor): void {
    if (from !== child) return
    unanswered = 0
    if (message.is === 'event') onEvent(message.unit, message.event)
    if (message.is !== 'ready') return
    isReady = true
    failures = 0
    problem = undefined
    const board = ownBoard
    ownBoard = undefined
    void board?.close()
    onReady()
  }

  function lost(gone: ChildProcess, why: string): void {
    if (gone !== child) return
    child = undefined
    isReady = false
    missing(why)
  }

  function missing(why: string): void {
    problem = 'The process that guards the deterrents cannot be kept running: nothing is fired'
    log.error({ why }, 'there is no supervisor of the deterrents, so the agent switches off by itself')
    losses += 1
    onLost()
    if (isStopping) return
    restart = setTimeout(start, Math.min(RESTART_MAX_MS, RESTART_FIRST_MS * 2 ** Math.min(failures, 20)))
    failures += 1
  }

  async function offByOurselves(unit: Unit): Promise<void> {
    await loadDrivers([unit], loaded)
    if (isReady) return
    ownBoard ??= createBoard({ openDriver: opener(loaded), clock: instantNow, report: onEvent })
    ownBoard.add({ ...unit, mayBeOn: true })
    ownBoard.off([unit.id])
  }

  const alive = setInterval(() => {
    if (!child) return
    // Unanswered messages are counted, not timed: an agent that was itself stopped for a while asks once more first.
    const silentMs = isReady ? SILENT_MS : Math.min(START_MAX_MS, SILENT_MS * 2 ** Math.min(failures, 20))
    if (unanswered * ALIVE_MS >= silentMs) child.kill('SIGKILL')
    unanswered += 1
    send({ is: 'alive' })
  }, ALIVE_MS)
  alive.unref()

  return {
    guard() {
      if (child) send({ is: 'guard', units: units() })
      else if (units().length > 0 && restart === undefined) start()
    },
    on: (unit, firing, seconds) => send({ is: 'on', unit: unit.id, firing, seconds, at: instantNow().mono }),
    off(unit) {
      if (child) send({ is: 'off', unit: unit.id })
      if (!child || ownBoard) ownTurn = ownTurn.then(() => offByOurselves(unit))
    },
    pid: () => child?.pid,
    isReady: () => isReady,
    losses: () => losses,
    problem: () => problem,
    async stop() {
      isStopping = true
      clearTimeout(restart)
      clearInterval(alive)
      const deadline = instantNow().mono + STOP_MS
      const last = child
      send({ is: 'end' })
      await until(() => !child, deadline)
      if (child && last) {
        if (last.connected) last.disconnect()
        last.stderr?.destroy()
        last.unref()
      }
      await ownTurn
      await until(() => ownBoard?.isQuiet() ?? true, deadline)
      const isAllOff = !child && (ownBoard?.isQuiet() ?? true)
      await ownBoard?.close()
      return { isAllOff, supervisor: child?.pid }
    },
  }
}

/** `deadline` is by the monotonic clock. */
async function until(isSo: () => boolean, deadline: number): Promise<void> {
  while (!isSo() && instantNow().mono < deadline) await sleep(STOP_LOOK_MS)
}
