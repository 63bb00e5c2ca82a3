/** A device without a hub, and a person at its own interface. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { startGateway, type Gateway, type GatewayOptions } from '../../apps/gateway/src/gateway.ts'

type DeviceOptions = Partial<GatewayOptions> & {
  /** Puts more into its data folder before it starts. */
  prepare?: (dataDir: string) => void
}

/** Runs the agent with this gateway.yaml until the end of the test, in a data folder of its own. */
export async function startDevice(text: string, { prepare, ...options }: DeviceOptions = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-device-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const file = join(dataDir, 'gateway.yaml')
  await writeFile(file, text)
  prepare?.(dataDir)
  const log = pino({ level: 'silent' })
  const own = { name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, log, searchDomains: [] }
  const gateway = await startGateway({ ...own, ...options })
  onTestFinished(() => gateway.stop())
  return { gateway, dataDir, file }
}

/** Somebody who knows the password of the device signs in. */
export async function signInToDevice(page: Page, { port, newPassword }: Gateway): Promise<void> {
  await page.goto(`http://127.0.0.1:${port}/device/sign-in`)
  await page.getByLabel('Password of this device').fill(newPassword!)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
