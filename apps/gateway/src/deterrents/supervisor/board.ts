/**
 * Calls the drivers as the switches decide, and runs their timers: in the supervisor, or in the agent while there is no
 * supervisor.
 */
import { DeviceRefusal, NeverOn, type Driver } from '../drivers/driver.ts'
import type { GuardedUnit, Instant, Unit } from '../saved-state.ts'
import { createSwitch, type Failure, type Switch, type SwitchEvent, type SwitchOutput } from './switch.ts'

export type OpenDriver = (unit: Unit) => OpenedDriver
export type OpenedDriver = { driver: Driver; answerMs: number; redact: (text: string) => string }

export type Board = {
  /** Switches these off and keeps them off; omitted units end when they are known to be off. */
  guard(units: readonly GuardedUnit[]): void
  on(unitId: string, firing: string, seconds: number): void
  off(unitIds: readonly string[]): void
  /** Switches off all units that are not known to be off. */
  offNotOff(): void
  /** Switches one more off, and keeps it so. */
  add(unit: GuardedUnit): void
  /** Whether all units are known to be off, or were tried for long enough since the agent ended, `triedMs` ago. */
  isQuiet(triedMs?: number): boolean
  /** Drops pending calls. */
  close(): Promise<void>
}

export type BoardOptions = {
  openDriver: OpenDriver
  clock: () => Instant
  report(unitId: string, event: SwitchEvent): void
}

const ANSWER_MAX = 200
/** How soon a jump of the wall clock is noticed. */
const LOOK_MS = 1_000
/**
 * How long a unit that was not switched on is tried without an agent. Under systemd a stop waits for no more than 30 s.
 * One that may be on is tried until it is off.
 */
const TRIED_MAX_MS = 20_000

type Slot = {
  unit: Unit
  switch: Switch
  isWanted: boolean
  opened: OpenedDriver
  inFlight: Map<number, AbortController>
}

export function createBoard({ openDriver, clock, report }: BoardOptions): Board {
  const slots = new Map<string, Slot>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function run(slot: Slot, outputs: readonly SwitchOutput[]): void {
    for (const output of outputs) {
      if (output.do === 'report') report(slot.unit.id, output.event)
      else if (output.do === 'call') void carryOut(slot, output.call, output.on)
      else {
        slot.inFlight.get(output.call)?.abort()
        slot.inFlight.delete(output.call)
      }
    }
    if (!slot.isWanted && slot.switch.isOff()) drop(slot)
    schedule()
  }

  async function carryOut(slot: Slot, call: number, on: number | undefined): Promise<void> {
    const controller = new AbortController()
    slot.inFlight.set(call, controller)
    const { signal } = controller
    const { driver, redact } = slot.opened
    try {
      const answer = await (on === undefined ? driver.off(signal) : driver.on(on, signal))
      finish(slot, call, (now) => slot.switch.answered(call, clean(redact(answer)), now))
    } catch (error) {
      const message = clean(redact(error instanceof Error ? error.message : String(error)))
      finish(slot, call, (now) => slot.switch.failed(call, message, failureOf(error), now))
    }
  }

  function finish(slot: Slot, call: number, step: (now: Instant) => SwitchOutput[]): void {
    slot.inFlight.delete(call)
    if (!isClosed) run(slot, step(clock()))
  }

  function drop(slot: Slot): void {
    if (slots.get(slot.unit.id) !== slot) return
    slots.delete(slot.unit.id)
    void closeDriver(slot)
  }

  function schedule(): void {
    clearTimeout(timer)
    if (isClosed) return
    const deadline = Math.min(...[...slots.values()].map((slot) => slot.switch.nextDeadline() ?? Infinity))
    if (deadline === Infinity) return
    timer = setTimeout(tick, Math.max(0, Math.min(LOOK_MS, deadline - clock().mono)))
  }

  function tick(): void {
    for (const slot of slots.values()) run(slot, slot.switch.tick(clock()))
    schedule()
  }

  function add({ mayBeOn, ...unit }: GuardedUnit): void {
    if (slots.has(unit.id)) return
    const opened = openDriver(unit)
    const slot: Slot = {
      unit,
      switch: createSwitch({ ...opened, mayBeOn, now: clock() }),
      isWanted: true,
      opened,
      inFlight: new Map(),
    }
    slots.set(unit.id, slot)
    off(slot)
  }

  const off = (slot: Slot): void => run(slot, slot.switch.off(clock()))

  return {
    guard(units) {
      const wanted = new Set(units.map(({ id }) => id))
      for (const slot of slots.values()) {
        slot.isWanted = wanted.has(slot.unit.id)
        if (slot.isWanted) continue
        if (slot.switch.isOff()) drop(slot)
        else off(slot)
      }
      units.forEach(add)
    },
    on(unitId, firing, seconds) {
      const slot = slots.get(unitId)
      if (slot) run(slot, slot.switch.on(firing, seconds, clock()))
      else report(unitId, { event: 'failed', firing, message: 'it is not guarded' })
    },
    off(unitIds) {
      for (const id of unitIds) {
        const slot = slots.get(id)
        if (slot) off(slot)
      }
    },
    offNotOff() {
      for (const slot of slots.values()) if (!slot.switch.isOff()) off(slot)
    },
    add,
    isQuiet: (triedMs = 0) =>
      [...slots.values()].every((slot) => slot.switch.isOff() || (triedMs > TRIED_MAX_MS && !slot.switch.mayBeOn())),
    async close() {
      isClosed = true
      clearTimeout(timer)
      for (const { inFlight } of slots.values()) for (const controller of inFlight.values()) controller.abort()
      await Promise.all([...slots.values()].map(closeDriver))
    },
  }
}

async function closeDriver({ opened }: Slot): Promise<void> {
  await opened.driver.close?.().catch(() => {})
}

function failureOf(error: unknown): Failure {
  if (error instanceof NeverOn) return 'never-on'
  return error instanceof DeviceRefusal ? 'refused' : 'unknown'
}

/** One line of limited length, printable characters only. */
function clean(text: string): string {
  return text
    .slice(0, 4 * ANSWER_MAX)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, ANSWER_MAX)
}
