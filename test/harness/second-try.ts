/**
 * Set-up of the e2e tests: the second try of a test finds each hub as the first found it, so that names which the first
 * added are free again, and none of the gateways that the first started. With `TEST_TWICE=on` every first try fails at
 * its end, which shows whether a second can pass.
 */
import { copyFile, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { listGateways } from '@hedgerow/contract'
import { afterEach, beforeEach, type RunnerTestCase } from 'vitest'
import { isStopped, runningGateways, type TestGateway } from './gateway.ts'
import { runningHubs, type Hub } from './hub.ts'
import { forgetSessions } from './session.ts'
import { waitFor } from './wait-for.ts'

const fileOf = (hub: Hub) => join(hub.dataDir, 'hub.sqlite')
const copyOf = (hub: Hub) => join(hub.dataDir, 'before-the-test.sqlite')
const isFirst = ({ result }: Readonly<RunnerTestCase>) => (result?.retryCount ?? 0) === 0

let gatewaysBefore: readonly TestGateway[] = []

beforeEach(async ({ task }) => {
  if (isFirst(task)) gatewaysBefore = runningGateways()
  else for (const gateway of runningGateways()) if (!gatewaysBefore.includes(gateway)) await gateway.stop()
  for (const hub of runningHubs()) await (isFirst(task) ? keep(hub) : bringBack(hub))
})

afterEach(({ task }) => {
  const isAsked = process.env['TEST_TWICE'] === 'on' && isFirst(task) && task.result?.state !== 'fail'
  if (isAsked) throw new Error('Passed, and is tried again because of TEST_TWICE')
})

/**
 * The file, then its log. The reader keeps the log from starting anew meanwhile, so the log has what the file lacks.
 */
async function keep(hub: Hub): Promise<void> {
  if (!existsSync(fileOf(hub))) return
  const database = new DatabaseSync(fileOf(hub), { timeout: 10_000 })
  database.exec('begin; select count(*) from sqlite_schema')
  await copyFile(fileOf(hub), copyOf(hub))
  await copyFile(`${fileOf(hub)}-wal`, `${copyOf(hub)}-wal`)
  database.close()
}

async function bringBack(hub: Hub): Promise<void> {
  // The first try started it.
  if (!existsSync(copyOf(hub))) return
  const online = new Set((await hub.api(listGateways).catch(() => [])).filter(isUp).map(({ id }) => id))
  await hub.kill9()
  await rm(`${fileOf(hub)}-shm`, { force: true })
  for (const ending of ['', '-wal']) await copyFile(`${copyOf(hub)}${ending}`, `${fileOf(hub)}${ending}`)
  hub.forgetSession()
  forgetSessions(hub)
  await hub.restart()
  const areBack = async () => (await hub.api(listGateways)).every((one) => isUp(one) || !online.has(one.id))
  await waitFor(areBack, { for: 'the gateways to be back', timeoutMs: 60_000 })
}

const isUp = ({ id, status }: { id: string; status: string }) => status !== 'offline' && !isStopped(id)
