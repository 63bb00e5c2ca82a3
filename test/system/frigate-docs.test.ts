import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { approveRegistration, listDetections, listPendingRegistrations } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseDeviceFile } from '../../apps/gateway/src/device-file/parse.ts'
import { startChild } from '../harness/child-process.ts'
import { startFrigate, type TestFrigate } from '../harness/frigate.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

/** Uses the commands and files of the page one after the other, as a reader would. */
const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const PAGE = await readFile(join(ROOT, 'docs/operations/frigate.md'), 'utf8')

let hub: Hub
let frigate: TestFrigate
let folder: string

beforeAll(async () => {
  hub = await startHub()
  frigate = await startFrigate({ access: { users: { hedgerow: { password: 'the password', role: 'viewer' } } } })
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-frigate-docs-'))
})

afterAll(async () => {
  await hub?.stop()
  await frigate?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text)

/** Replaces ports by those of this test. */
const here = (text: string) =>
  text
    .replaceAll('http://127.0.0.1:5000', frigate.url)
    .replaceAll('https://127.0.0.1:8971', frigate.secureUrl)
    .replaceAll('https://hub.example.net', hub.url)

const command = (part: string) => here(blocks('sh').find((text) => text.includes(part))!).trim()
const environment = () => ({
  GATEWAY_DATA_DIR: join(folder, 'data'),
  GATEWAY_CONFIG: join(folder, 'gateway.yaml'),
  GATEWAY_HOST: '127.0.0.1',
  GATEWAY_PORT: '0',
})
const shell = (line: string) => run('bash', ['-c', line], { cwd: ROOT, env: { ...process.env, ...environment() } })

test('every file for the gateway on the page is valid', () => {
  const files = blocks('yaml').filter((text) => text.startsWith('sources:'))
  const read = files.map(
    (text) => parseDeviceFile(text, { folder, environment: { FRIGATE_PASSWORD: 'secret' } }).errors,
  )
  expect(read).toEqual([undefined, undefined, undefined, undefined])
})

test('every setting is in a row of the page’s table, and no other', async () => {
  const { frigateSettings } = await import('../../apps/gateway/src/sources/frigate/schema.ts')
  const table = PAGE.slice(PAGE.indexOf('## Settings'), PAGE.indexOf('## When it does not work'))
  const named = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
  expect(named.toSorted()).toEqual(Object.keys(frigateSettings.shape).toSorted())
})

describe('the commands', () => {
  test('ask Frigate for its version, and sign in', async () => {
    expect((await shell(command('/api/version'))).stdout).toBe('0.17.2-3a9f0c1')
    expect((await shell(`${command('/api/login')} -o /dev/null -w '%{http_code}'`)).stdout).toBe('200')
  })

  test('lead from the file to a detection in the hub', async () => {
    // A second try is another gateway.
    onTestFinished(() => rm(join(folder, 'data'), { recursive: true, force: true }))
    await writeFile(join(folder, 'gateway.yaml'), here(blocks('yaml')[0]!))
    const { stdout } = await shell(command('-- check'))
    expect(stdout).toContain('gateway.yaml: no errors.')
    // `exec`, so that the gateway and not the shell gets the signal that ends it.
    const gateway = await startChild('bash', ['-c', `cd ${ROOT} && exec ${command('--hub')}`], { env: environment() })
    try {
      const [waiting] = await waitFor(
        async () => {
          const pending = await hub.api(listPendingRegistrations)
          return pending.length > 0 ? pending : undefined
        },
        { for: 'the registration', timeoutMs: 70_000 },
      )
      const { gatewayId } = await hub.api(approveRegistration, { params: { registrationId: waiting!.registrationId } })
      await waitFor(() => frigate.viewers() === 1, { for: "the agent at Frigate's WebSocket", timeoutMs: 70_000 })
      const review = frigate.see({ label: 'boar' })
      const found = await waitFor(
        async () =>
          (await hub.api(listDetections, { params: { id: gatewayId } })).find(({ hasThumbnail }) => hasThumbnail),
        { for: 'the detection with its picture', timeoutMs: 70_000 },
      )
      expect(found).toMatchObject({ id: review.id, label: 'boar' })
    } finally {
      await gateway.stop()
    }
  })
})
