import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DriverType } from './drivers/driver.ts'

const FOLDER = join(import.meta.dirname, 'drivers')
/** Files that drivers share. */
const SHARED = new Set(['driver.ts', 'device-call.ts'])

/** The names of all drivers, in order: adding a file to drivers/ adds the driver. */
export const driverNames: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !SHARED.has(file))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()

/** A driver's file has its name. Throws for a name that is not in `driverNames`. */
export async function loadDriver(name: string): Promise<DriverType> {
  if (!driverNames.includes(name)) throw new Error(`there is no driver ${name}`)
  return ((await import(join(FOLDER, `${name}.ts`))) as { driver: DriverType }).driver
}
