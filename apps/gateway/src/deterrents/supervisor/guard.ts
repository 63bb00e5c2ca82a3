import type { DriverType } from '../drivers/driver.ts'
import type { Unit } from '../saved-state.ts'
import { createBoard } from './board.ts'
import { instantNow } from './clock.ts'
import { loadDrivers, opener } from './open-driver.ts'
import type { SwitchEvent } from './switch.ts'

/** Who switches for the agent. */
export type Guard = {
  guard(units: readonly Unit[]): void
  on(unit: Unit, firing: string, seconds: number): void
  off(unit: Unit): void
  /** Switches off what is on. */
  stop(): Promise<void>
}

export type GuardOptions = {
  onReady(): void
  onEvent(unitId: string, event: SwitchEvent): void
}

export function openGuard({ onReady, onEvent }: GuardOptions): Guard {
  const loaded = new Map<string, DriverType>()
  const board = createBoard({ openDriver: opener(loaded), clock: instantNow, tell: onEvent })
  let turn = Promise.resolve()
  return {
    guard(units) {
      turn = turn.then(async () => {
        await loadDrivers(units, loaded)
        board.guard(units)
        onReady()
      })
    },
    on: (unit, firing, seconds) => board.on(unit.id, firing, seconds),
    off: (unit) => board.off([unit.id]),
    async stop() {
      await turn
      board.guard([])
      await board.close()
    },
  }
}
