import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, Refusal } from '@hedgerow/client'
import {
  addGateway,
  createToken,
  editGateway,
  listGateways,
  listTokens,
  readHubSettings,
  revokeToken,
} from '@hedgerow/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChild } from '../harness/child-process.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { skipWithout } from '../harness/privileges.ts'

/** The recipes of docs/operations/programs.md and of packages/client, as they are written there. */
const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-programs-'))
const tokenFile = join(folder, 'token')
let hub: Hub
let token: string
beforeAll(async () => {
  hub = await startHub({ env: { HUB_LOG_LEVEL: 'debug' } })
  await hub.api(addGateway, { body: { name: 'Hen house' } })
  ;({ token } = await hub.api(createToken, { body: { name: 'recipes', password: hub.admin.password } }))
  writeFileSync(tokenFile, `Authorization: Bearer ${token}\n`, { mode: 0o600 })
})
afterAll(async () => {
  await hub?.stop()
  rmSync(folder, { recursive: true })
})

const linesOf = (beginning: string) =>
  readFileSync(join(ROOT, 'docs/operations/programs.md'), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith(beginning))
    .map((line) => line.replaceAll('https://hub.example.net', hub.url).replaceAll('/etc/hedgerow/token', tokenFile))

const noTools = skipWithout('the recipes with curl', 'command curl', 'command jq')
it.skipIf(noTools)('curl reads gateways, incidents and an archive with the lines of the page', () => {
  const run = (line: string) => execFileSync('sh', ['-ec', line], { cwd: folder, encoding: 'utf8' })
  const [gateways, incidents, archive] = linesOf('curl -fsS -H') as [string, string, string]
  expect(run(gateways)).toMatch(/^Hen house: .+\n$/)
  expect(run(incidents)).toBe('')
  run(archive)
  expect(readFileSync(join(folder, 'incidents.zip')).subarray(0, 2).toString()).toBe('PK')
})

it.skipIf(noTools)('curl hears of changes with the line of the page, until its token is revoked', async () => {
  const { token: other, details } = await hub.api(createToken, {
    body: { name: 'listener', password: hub.admin.password },
  })
  const [line] = linesOf('curl -fsSN')
  const curl = await startChild('sh', [
    '-c',
    `exec ${line!.replace(`@${tokenFile}`, `'Authorization: Bearer ${other}'`)}`,
  ])
  const { id } = await hub.api(addGateway, { body: { name: 'Old mill' } })
  let changes = 0
  const changed = async () => {
    await hub.api(editGateway, { params: { id }, body: { description: `${++changes}` } })
    return curl.output()
  }
  await expect.poll(changed, { timeout: 30_000 }).toContain('"topic":"gateways"')
  await hub.api(revokeToken, { params: { id: details.id } })
  await curl.ended
})

it('the command line makes a token that works', async () => {
  const [line] = linesOf('npm run hub -- token create')
  const args = line!.replace('npm run hub -- ', '').replace('rosa', hub.admin.username)
  const output = execFileSync('sh', ['-ec', `sh scripts/node.sh apps/hub/src/main.ts ${args}`], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, HUB_DATA_DIR: hub.dataDir },
  })
  const client = createClient(hub.url, /hgr_\w+/.exec(output)?.[0])
  expect((await client(listGateways)).length).toBeGreaterThan(0)
})

it('the client runs the code of its README', () => {
  const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8')
  const code = /```ts\n([^]*?)```/.exec(readme)?.[1]?.replace('https://hub.example.net', hub.url)
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', code!], {
    cwd: join(ROOT, 'test'),
    encoding: 'utf8',
    env: { ...process.env, HEDGEROW_TOKEN: token },
  })
  expect(output).toMatch(/^Hen house \w+\n[^]*0\n$/)
})

it('the client rejects with the refusal of the hub, also with that of a proxy in front of it', async () => {
  const client = createClient(hub.url, token)
  const refused = await client(addGateway, { body: { name: 'x' } }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ status: 403, body: { error: 'token_not_allowed' } })
  const elsewhere = { ...readHubSettings, path: '/v1/../../no-such-page' as const }
  expect(await client(elsewhere).catch((error: unknown) => error)).toMatchObject({ status: 404 })
})

it('the log has no token, also of requests that carry it in the wrong place', async () => {
  for (const place of [`/api/v1/hub/stats?token=${token}`, `/api/v1/${token}`, `/${token}`])
    await fetch(`${hub.url}${place}`)
  await fetch(`${hub.url}/api/v1/hub/stats`, { headers: { authorization: `Basic ${token}` } })
  await hub.api(listTokens)
  expect(hub.output()).not.toContain(token.slice(4, 30))
})
