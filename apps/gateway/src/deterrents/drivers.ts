import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DriverType } from './drivers/driver.ts'

const FOLDER = join(import.meta.dirname, 'drivers')
/** What drivers share. */
const SHARED = new Set(['driver.ts', 'device-call.ts'])

/** Every file of drivers/ that is one: a driver is there with its file, and listed nowhere. In the order of names. */
export const driverNames: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !SHARED.has(file))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()

/** The file has the name of its driver. Throws for a name that is not of `driverNames`. */
export async function loadDriver(name: string): Promise<DriverType> {
  if (!driverNames.includes(name)) throw new Error(`there is no driver ${name}`)
  return ((await import(join(FOLDER, `${name}.ts`))) as { driver: DriverType }).driver
}
