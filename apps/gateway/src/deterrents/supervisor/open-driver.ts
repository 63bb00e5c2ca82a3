import { loadDriver } from '../drivers.ts'
import type { DriverType } from '../drivers/driver.ts'
import type { Unit } from '../saved-state.ts'
import type { OpenDriver } from './board.ts'

const ANSWER_MS = 5_000
/** Shorter texts would be found within other words. */
const SECRET_MIN = 4

/** Loads only the drivers that these units need, since the process that guards them is to be small. */
export async function loadDrivers(units: readonly Unit[], loaded: Map<string, DriverType>): Promise<void> {
  for (const { settings } of units)
    if (!loaded.has(settings.driver)) loaded.set(settings.driver, await loadDriver(settings.driver))
}

export function opener(loaded: ReadonlyMap<string, DriverType>): OpenDriver {
  return ({ settings }) => {
    const type = loaded.get(settings.driver)
    if (!type) throw new Error(`the driver ${settings.driver} is not loaded`)
    const secrets = (type.secrets?.(settings) ?? []).filter((text) => text !== undefined && text.length >= SECRET_MIN)
    return {
      driver: type.open(settings),
      answerMs: type.answerMs ?? ANSWER_MS,
      redact: (text) => secrets.reduce<string>((shown, secret) => shown.replaceAll(secret!, '•••'), text),
    }
  }
}
