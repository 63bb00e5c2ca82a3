import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { login, listGateways, addGateway } from '@hedgerow/contract'
import { afterEach, expect, test, vi } from 'vitest'
import { startChild } from '../harness/child-process.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { HUB_COMMAND, startHub, type Hub } from '../harness/hub.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-commands-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs a command as an operator would beside the hub, with the hub's own variables. */
async function command(
  hub: Pick<Hub, 'dataDir' | 'port' | 'vpnPort'>,
  args: string[],
  env: Record<string, string> = {},
) {
  const child = await startChild(process.execPath, [...HUB_COMMAND, ...args], {
    env: {
      HUB_HOST: '127.0.0.1',
      HUB_PORT: String(hub.port),
      HUB_HTTPS_PORT: 'off',
      HUB_VPN_PORT: String(hub.vpnPort),
      HUB_DATA_DIR: hub.dataDir,
      ...env,
    },
  })
  cleanups.push(() => child.stop(0))
  const { code } = await child.ended
  return { code, output: child.output() }
}

async function start(): Promise<Hub> {
  const hub = await startHub()
  cleanups.push(() => hub.stop())
  return hub
}

test('a backup of a running hub is complete after a restore, without later changes', async () => {
  const hub = await start()
  await hub.api(addGateway, { body: { name: 'Barn' } })
  const file = join(await temporaryFolder(), 'monday.backup')
  expect((await command(hub, ['backup', file])).code).toBe(0)
  await hub.api(addGateway, { body: { name: 'Shed' } })

  const refused = await command(hub, ['restore', file])
  expect(refused.code).toBe(1)
  expect(refused.output).toContain('Another hub is running')
  expect(await hub.api(listGateways)).toHaveLength(2)

  await hub.kill9()
  const restored = await command(hub, ['restore', file])
  expect(restored).toMatchObject({ code: 0 })
  await hub.restart()
  await expect(hub.api(listGateways), 'everybody signs in again').rejects.toMatchObject({
    body: { error: 'session_ended' },
  })
  expect((await hub.apiAs(hub.admin)(listGateways)).map(({ name }) => name)).toEqual(['Barn'])
  expect((await readdir(hub.dataDir)).filter((name) => name.includes('.replaced-'))).toHaveLength(1)
})

test('a second hub on one data directory refuses to start, also right after the first was restarted', async () => {
  const hub = await start()
  const port = String(await freeTcpPort())
  const second = () => command(hub, [], { HUB_PORT: port, HUB_VPN_BACKEND: 'off' })
  expect(await second()).toMatchObject({ code: 1, output: expect.stringContaining('Another hub is running') })
  await hub.kill9()
  await hub.restart()
  expect(await second()).toMatchObject({ code: 1, output: expect.stringContaining('HUB_DATA_DIR') })
})

test('an older hub refuses the database of a newer one, by name', async () => {
  const hub = await start()
  await hub.kill9()
  const database = new DatabaseSync(join(hub.dataDir, 'hub.sqlite'))
  database.exec("insert into migrations (name, applied_at) values ('999-of-the-future', 0)")
  database.close()
  expect(await command(hub, [])).toMatchObject({ code: 1, output: expect.stringContaining('999-of-the-future') })
})

test('a reset password works at once, and the old one and its sessions stop', async () => {
  const hub = await start()
  await hub.api(listGateways)
  const reset = await command(hub, ['reset-password', 'admin'])
  expect(reset.code).toBe(0)
  const password = /^ {2}(\S{20})$/m.exec(reset.output)![1]!
  await vi.waitFor(() => expect(hub.api(listGateways)).rejects.toMatchObject({ body: { error: 'session_ended' } }), {
    timeout: 30_000,
  })
  await expect(hub.visitor(login, { body: hub.admin })).rejects.toMatchObject({
    body: { error: 'invalid_credentials' },
  })
  await expect(hub.visitor(login, { body: { username: 'admin', password } })).resolves.toHaveProperty('accessToken')
  expect(await command(hub, ['reset-password', 'nobody'])).toMatchObject({ code: 1 })
})

test('invite prints a code, and refuses an unknown role', async () => {
  const hub = await start()
  const invited = await command(hub, ['invite', '--role', 'manager', '--uses', '3'])
  expect(invited).toMatchObject({ code: 0, output: expect.stringContaining('3 accounts with the role manager') })
  expect(await command(hub, ['invite', '--role', 'king'])).toMatchObject({
    code: 1,
    output: expect.stringContaining('--role'),
  })
})

test('doctor finds nothing wrong with a running hub, and names the problem of a stopped one', async () => {
  const hub = await start()
  const healthy = await command(hub, ['doctor'])
  expect(healthy.output).not.toContain('FAIL')
  expect(healthy).toMatchObject({ code: 0, output: expect.stringContaining(`answers on port ${hub.port}`) })
  for (const check of ['database', 'disk', 'clock', 'VPN', 'certificates'])
    expect(healthy.output).toMatch(new RegExp(`^(ok|warn) +${check} `, 'm'))

  const findings: unknown = JSON.parse((await command(hub, ['doctor', '--json'])).output)
  expect(findings).toContainEqual(expect.objectContaining({ check: 'database', state: 'ok' }))

  await hub.kill9()
  const squatter = createServer().listen(hub.port, '127.0.0.1')
  cleanups.push(async () => squatter.close())
  await rm(join(hub.dataDir, 'hub.sqlite-wal'))
  await writeFile(join(hub.dataDir, 'hub.sqlite'), 'no database'.repeat(1_000))
  const broken = await command(hub, ['doctor'], { HUB_TLS_CERT_FILE: '/nonexistent', HUB_TLS_KEY_FILE: '/nonexistent' })
  expect(broken.code).toBe(1)
  expect(broken.output).toMatch(/^FAIL +database .*not a database\n.+hub restore FILE/m)
  expect(broken.output).toMatch(/^FAIL +ports +HUB_PORT \d+ cannot be used \(EADDRINUSE\)\n.+HUB_PORT/m)
})

test('an unknown command, or one without its argument, prints the usage', async () => {
  const hub = { dataDir: await temporaryFolder(), port: 1, vpnPort: 1 }
  expect(await command(hub, ['--help'])).toMatchObject({
    code: 0,
    output: expect.stringContaining('reset-password NAME'),
  })
  expect(await command(hub, ['bakcup'])).toMatchObject({ code: 1, output: expect.stringContaining('backup FILE') })
  expect(await command(hub, ['backup'])).toMatchObject({
    code: 1,
    output: expect.stringContaining('Usage: backup FILE'),
  })
  expect(await command(hub, ['reset-password', 'admin'])).toMatchObject({
    code: 1,
    output: expect.stringContaining('no database'),
  })
  expect(await readdir(hub.dataDir)).toEqual([])
})
