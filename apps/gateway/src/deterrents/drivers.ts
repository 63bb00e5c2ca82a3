import { readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { DriverType } from './drivers/driver.ts'

const FOLDER = join(import.meta.dirname, 'drivers')
/** `.js` in a bundle. */
const EXTENSION = extname(import.meta.filename)
/** Files that drivers share. */
const SHARED = new Set(['driver', 'device-call', 'onvif-soap'])

/** The names of all drivers, in order: adding a file to drivers/ adds the driver. */
export const driverNames: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(EXTENSION) && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -EXTENSION.length))
  .filter((name) => !SHARED.has(name))
  .toSorted()

/** A driver's file has its name. Throws for a name that is not in `driverNames`. */
export async function loadDriver(name: string): Promise<DriverType> {
  if (!driverNames.includes(name)) throw new Error(`there is no driver ${name}`)
  return ((await import(join(FOLDER, `${name}${EXTENSION}`))) as { driver: DriverType }).driver
}
