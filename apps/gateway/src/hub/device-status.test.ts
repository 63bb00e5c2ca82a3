import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { register } from '@hedgerow/contract'
import { readDeviceStatus, readMacAddress, readTemperature } from './device-status.ts'

test('load, memory and disk are fractions that the contract takes', async () => {
  const status = await readDeviceStatus(tmpdir())
  expect(status.load).toBeGreaterThanOrEqual(0)
  for (const share of [status.memory, status.disk]) {
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThanOrEqual(1)
  }
})

test('the hottest plausible sensor counts, and a device without one has none', async () => {
  const zones = await mkdtemp(join(tmpdir(), 'hedgerow-thermal-'))
  onTestFinished(() => rm(zones, { recursive: true }))
  expect(await readTemperature(zones)).toBeNull()
  for (const [name, text] of Object.entries({
    thermal_zone0: '48250\n',
    thermal_zone1: '61000\n',
    thermal_zone2: '-274000\n',
    cooling_device0: '99000\n',
    thermal_zone3: '',
  })) {
    await mkdir(join(zones, name))
    await writeFile(join(zones, name, 'temp'), text)
  }
  await mkdir(join(zones, 'thermal_zone4'))
  expect(await readTemperature(zones)).toBe(61)
  expect(await readTemperature(join(zones, 'missing'))).toBeNull()
})

test('the MAC address is one that the contract takes', () => {
  expect(register.body.shape.macAddress.safeParse(readMacAddress()).success).toBe(true)
})
