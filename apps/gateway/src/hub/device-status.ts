import { readdir, readFile, statfs } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, networkInterfaces, totalmem } from 'node:os'
import { join } from 'node:path'

export type DeviceStatus = {
  /** Load average over one minute divided by the processors. */
  load: number
  /** Fractions in use, 0 to 1. */
  memory: number
  disk: number
  /** The hottest sensor in degrees Celsius; null where the device has none. */
  temperature: number | null
}

/** Measures the disk that holds `dataDir`. */
export async function readDeviceStatus(dataDir: string): Promise<DeviceStatus> {
  const [disk, temperature] = await Promise.all([readDisk(dataDir), readTemperature()])
  return {
    load: (loadavg()[0] ?? 0) / availableParallelism(),
    memory: fraction(1 - freemem() / totalmem()),
    disk,
    temperature,
  }
}

async function readDisk(path: string): Promise<number> {
  const { blocks, bavail } = await statfs(path)
  return blocks === 0 ? 0 : fraction(1 - bavail / blocks)
}

/** Linux gives thousandths of a degree for each zone (thermal sysfs). */
export async function readTemperature(zonesPath = '/sys/class/thermal'): Promise<number | null> {
  const names = await readdir(zonesPath).catch(() => [])
  const zones = names.filter((name) => name.startsWith('thermal_zone'))
  const texts = await Promise.all(zones.map((name) => readFile(join(zonesPath, name, 'temp'), 'utf8').catch(() => '')))
  const degrees = texts.map((text) => (text.trim() === '' ? Number.NaN : Number(text) / 1_000))
  const plausible = degrees.filter((value) => value > -100 && value < 300)
  return plausible.length > 0 ? Math.max(...plausible) : null
}

/** The MAC address of the first network interface, as printed on a label; empty when there is none. */
export function readMacAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(({ internal, mac }) => !internal && mac !== '00:00:00:00:00:00')
    if (found) return found.mac
  }
  return ''
}

function fraction(value: number): number {
  return Math.min(1, Math.max(0, value))
}
