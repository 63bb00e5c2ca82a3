/**
 * The supervisor: a small process of its own that outlives the agent. It alone switches on, and it switches off when a
 * firing's time is over, when the agent says so, is silent, or is gone. It ends when nothing can be on any more, when
 * it has tried for long enough, or when the supervisor of a new agent has taken over.
 *
 * Arguments: the file that names the supervisor in charge, and this one's name.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DriverType } from '../drivers/driver.ts'
import { createBoard } from './board.ts'
import { instantNow } from './clock.ts'
import { ALIVE_MS, ON_AGE_MAX_MS, SILENT_MS, type FromSupervisor, type ToSupervisor } from './messages.ts'
import { loadDrivers, opener } from './open-driver.ts'

/** A connection that does not close must not keep this process. */
const CLOSE_MAX_MS = 2_000

const [inChargeFile = '', ownName = ''] = process.argv.slice(2)
const loaded = new Map<string, DriverType>()
let heardAt = instantNow().mono
/** Since when the agent has been stopping or gone. */
let endingSince: number | undefined
let turn: Promise<void> = Promise.resolve()

const board = createBoard({
  openDriver: opener(loaded),
  clock: instantNow,
  report: (unit, event) => send({ is: 'event', unit, event }),
})

function send(message: FromSupervisor): void {
  // Nobody listens any more once the agent is gone.
  if (process.connected) process.send!(message, () => {})
}

function receive(message: ToSupervisor): void {
  heardAt = instantNow().mono
  if (message.is === 'alive') send({ is: 'alive' })
  else if (message.is === 'end') end()
  else if (message.is === 'off') board.off([message.unit])
  else if (message.is === 'on') switchOn(message)
  else turn = turn.then(() => guard(message.units))
}

async function guard(units: Extract<ToSupervisor, { is: 'guard' }>['units']): Promise<void> {
  await loadDrivers(units, loaded)
  // Also when the agent has stopped or died meanwhile: an earlier crash may have left something on.
  board.guard(units)
  send({ is: 'ready' })
}

function switchOn({ unit, firing, seconds, at }: Extract<ToSupervisor, { is: 'on' }>): void {
  const isLate = instantNow().mono - at > ON_AGE_MAX_MS
  if (endingSince === undefined && !isLate) return board.on(unit, firing, seconds)
  send({ is: 'event', unit, event: { event: 'failed', firing, message: 'it was asked for too late' } })
  board.off([unit])
}

function end(): void {
  endingSince ??= instantNow().mono
  void turn.then(() => board.guard([]))
}

/** Another agent has started another supervisor, which switches all units off itself. */
function isReplaced(): boolean {
  try {
    return readFileSync(inChargeFile, 'utf8') !== ownName
  } catch {
    return false
  }
}

async function look(): Promise<void> {
  const now = instantNow().mono
  if (endingSince === undefined) {
    if (now - heardAt > SILENT_MS) board.offNotOff()
    return
  }
  await turn
  if (!board.isQuiet(now - endingSince) && !(isReplaced() && !process.connected)) return
  await Promise.race([board.close(), sleep(CLOSE_MAX_MS)])
  process.exit(0)
}

process.on('message', (message) => receive(message as ToSupervisor))
process.on('disconnect', end)
process.on('SIGTERM', end)
process.on('SIGHUP', () => {})
process.on('SIGINT', () => {})
// The pipe breaks when the agent is gone.
process.stderr.on('error', () => {})
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? String(error)}\n`)
  // The agent starts another; without an agent there is only this one to switch off.
  if (process.connected) process.exit(1)
})
setInterval(() => void look(), ALIVE_MS / 4)
