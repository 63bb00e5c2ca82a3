import { loadDriver } from '../drivers.ts'
import type { DriverType } from '../drivers/driver.ts'
import type { Unit } from '../saved-state.ts'
import type { OpenDriver, OpenedDriver } from './board.ts'

const ANSWER_MS = 5_000
/** Shorter texts would match inside other words. */
const SECRET_MIN = 4

/** Loads only the drivers that these units need, to keep the guarding process small. */
export async function loadDrivers(units: readonly Unit[], loaded: Map<string, DriverType>): Promise<void> {
  for (const { settings } of units) {
    if (loaded.has(settings.driver)) continue
    try {
      loaded.set(settings.driver, await loadDriver(settings.driver))
    } catch {
      // Each call to its units fails with the reason.
    }
  }
}

export function opener(loaded: ReadonlyMap<string, DriverType>): OpenDriver {
  return ({ settings }) => {
    const type = loaded.get(settings.driver)
    if (!type) return unusable(`the driver ${settings.driver} cannot be loaded`)
    try {
      const secrets = (type.secrets?.(settings) ?? []).filter((text) => text !== undefined)
      const hidden = secrets.filter((text) => text.length >= SECRET_MIN)
      return {
        driver: type.open(settings),
        answerMs: type.answerMs ?? ANSWER_MS,
        redact: (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, '•••'), text),
      }
    } catch {
      return unusable(`the driver ${settings.driver} does not take its settings`)
    }
  }
}

/** A driver whose calls fail with this message, so that its unit counts as on. */
function unusable(message: string): OpenedDriver {
  const fail = (): Promise<never> => Promise.reject(new Error(message))
  return { driver: { on: fail, off: fail }, answerMs: ANSWER_MS, redact: (text) => text }
}
