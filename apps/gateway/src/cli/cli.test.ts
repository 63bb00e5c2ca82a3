import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serveHttp } from '../../testing/serve-http.ts'
import manifest from '../../../../package.json' with { type: 'json' }
import { announceAgent } from '../agent-file.ts'
import { openRecord, RECORD_FILE } from '../detections/record.ts'
import { parseDeviceFile } from '../device-file/parse.ts'
import { startGateway } from '../gateway.ts'
import { openPassword } from '../kernel/password.ts'
import { localCalls } from '@hedgerow/contract/local-api'
import { callAgent } from './call-agent.ts'
import { takeFlags } from './command-line.ts'
import { findCommand } from './commands.ts'
import { initDeviceFile, template } from './init.ts'
import { newPassword } from './new-password.ts'
import { resetDevice } from './reset.ts'
import { testRules } from './rules-test.ts'
import { agentStatus } from './status.ts'

const log = pino({ level: 'silent' })
let dataDir: string
let file: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-cli-'))
  file = join(dataDir, 'gateway.yaml')
})
afterEach(() => rm(dataDir, { recursive: true }))

const start = () => startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, searchDomains: [], log })
const errorsOf = (text: string) =>
  parseDeviceFile(text, { folder: dataDir, environment: { API_TOKEN: 'a-token-for-programs' } }).errors

describe('gateway init', () => {
  test('writes a file without errors, with the Frigate that answers', async () => {
    const other = await serveHttp((_request, response) => void response.end('<title>A printer</title>'))
    const frigate = await serveHttp(
      ({ url }, response) => void response.end(url === '/api/version' ? '0.17.2-abc' : ''),
    )
    const { text, isDone } = await initDeviceFile(
      file,
      dataDir,
      ['--data', dataDir],
      ['http://127.0.0.1:9', other, frigate],
    )
    expect([isDone, text]).toEqual([true, expect.stringContaining(`Frigate answers at ${frigate}`)])
    expect(text).toContain(`gateway -- check --data ${dataDir}`)
    const written = await readFile(file, 'utf8')
    const parsed = parseDeviceFile(written, { folder: dataDir, environment: {} })
    expect(parsed).toMatchObject({
      value: { sources: { frigate: { url: frigate }, api: { loopbackNeedsToken: false } } },
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('writes a file whose examples have no errors either, and never touches one that is there', async () => {
    await initDeviceFile(file, dataDir, [], [])
    const written = await readFile(file, 'utf8')
    expect(errorsOf(written)).toBeUndefined()
    const examples = written.replaceAll(/^ {2}api: .*\n/gm, '').replaceAll(/^#(?=\S| {2})/gm, '')
    expect(errorsOf(examples)).toBeUndefined()
    expect(
      parseDeviceFile(examples, { folder: dataDir, environment: { API_TOKEN: 'a-token-for-programs' } }),
    ).toMatchObject({
      value: { rules: [{ name: 'Boar at night' }], site: { latitude: 52.1 }, sources: { frigate: {} } },
    })
    expect(await initDeviceFile(file, dataDir, [], [])).toMatchObject({ isDone: false })
    expect(await readFile(file, 'utf8')).toBe(template())
  })
})

test('a word that is no command is named, with the commands there are', async () => {
  for (const word of ['frobnicate', 'model', 'constructor']) {
    const { run, args } = findCommand([word, '--data', dataDir])!
    await expect(run(args, {})).rejects.toThrow(
      new RegExp(`^There is no command "${word}"\\. Commands: check, .*model add, model list`),
    )
  }
  expect(findCommand(['--hub', 'http://127.0.0.1'])).toBeUndefined()
  expect(findCommand([])).toBeUndefined()
  expect(await findCommand(['--version'])!.run([], {})).toEqual({ text: manifest.version, isDone: true })
  expect(findCommand(['learning', 'undo', 'orchard', 'deer'])).toMatchObject({ args: ['orchard', 'deer'] })
})

test('gateway status asks the agent that runs, and says when none does', async () => {
  expect(await agentStatus(dataDir)).toEqual({ text: `No gateway runs with ${dataDir}.`, isDone: false })
  const gateway = await start()
  const { text, isDone } = await agentStatus(dataDir)
  expect([isDone, text]).toEqual([true, expect.stringMatching(/Hub found[^]*Tunnel up[^]*armed, 0 detections wait/)])
  expect(text).toMatch(/Version and updates\n {2}Started: \d{4}-.*\n {2}Update: It runs from the sources: .*npm ci/)
  await gateway.stop()
  expect(await agentStatus(dataDir)).toMatchObject({ isDone: false })
})

test('gateway status says so when the agent that runs has another version', async () => {
  const url = await serveHttp((_request, response) => void response.end('{"version":"0.0.1"}'))
  await announceAgent(dataDir, { url, token: 'a-token' })
  const { text, isDone } = await agentStatus(dataDir)
  expect([isDone, text]).toEqual([false, expect.stringContaining('has another version than this command')])
})

test('an agent that does not answer in time still runs', async () => {
  const url = await serveHttp(() => {})
  await announceAgent(dataDir, { url, token: 'a-token' })
  const words = () => ({ text: '', isDone: true })
  expect(await callAgent(dataDir, localCalls.getStatus, words, { timeoutMs: 50 })).toEqual({
    text: `The gateway that runs with ${dataDir} has not answered for 0.05 s. Try again.`,
    isDone: false,
  })
})

describe('gateway reset', () => {
  const yes = async () => true

  test('forgets the hub and keeps the keys; with --keys it forgets the keys too', async () => {
    const gateway = await start()
    await expect(resetDevice(dataDir, { withKeys: false, confirm: yes })).rejects.toThrow(/Another gateway is running/)
    await gateway.stop()
    for (const name of ['approval.json', 'hub.json']) await writeFile(join(dataDir, name), '{}')
    const refused = await resetDevice(dataDir, { withKeys: true, confirm: async () => false })
    expect(refused.isDone).toBe(false)
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['approval.json', 'hub.json', 'keys.json']))
    expect(await resetDevice(dataDir, { withKeys: false, confirm: yes })).toMatchObject({ isDone: true })
    const left = await readdir(dataDir)
    expect(left).toContain('keys.json')
    expect(left).not.toContain('approval.json')
    expect(left).not.toContain('hub.json')
    await resetDevice(dataDir, { withKeys: true, confirm: yes })
    expect(await readdir(dataDir)).not.toContain('keys.json')
  })
})

describe('the password of the device', () => {
  test('is made by the next start when the first one failed before anybody saw it', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const starts = () => startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port, searchDomains: [], log })
    await expect(starts()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    other.close()
    await once(other, 'close')
    const gateway = await starts()
    expect(gateway.newPassword).toMatch(/^[a-z2-9]{4}-/)
    await gateway.stop()
  })

  test('is not made for a folder without a device', async () => {
    for (const folder of [dataDir, join(dataDir, 'none')])
      expect(await newPassword(folder)).toMatchObject({
        isDone: false,
        text: expect.stringContaining(`${folder} is not the folder of a device`),
      })
    expect(await readdir(dataDir)).toEqual([])
  })

  test('is made at the first start, and a new one ends the old one while the agent runs', async () => {
    const first = await start()
    const made = first.newPassword!
    expect(made).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/)
    await first.stop()
    const password = await openPassword(dataDir)
    expect(password.made).toBeUndefined()
    const asTyped = made.toUpperCase().replaceAll('-', ' ')
    expect([await password.verify(asTyped), await password.verify('wrong'), await password.verify('')]).toEqual([
      true,
      false,
      false,
    ])
    const { text } = await newPassword(dataDir)
    const replaced = /shown once: (\S+)$/.exec(text)![1]!
    expect([await password.verify(made), await password.verify(replaced)]).toEqual([false, true])
    expect(await readFile(join(dataDir, 'password.json'), 'utf8')).not.toContain(replaced)
  })
})

describe('gateway rules test', () => {
  const NOW = Date.parse('2026-05-02T12:00:00Z')

  function record(...detections: Detection[]): void {
    const kept = openRecord(join(dataDir, RECORD_FILE), {
      settings: () => ({ days: 14, megabytes: 200 }),
      log,
      clock: () => NOW,
    })
    for (const detection of detections) kept.put(detection)
    kept.close()
  }

  function seen(id: string, at: string, more: Partial<Detection> = {}): Detection {
    return { id, camera: 'orchard', label: 'boar', severity: 'alert', score: 0.9, startedAt: at, ...more }
  }

  async function run(since = '24h', most?: number) {
    await writeFile(
      file,
      `
site: { latitude: 52.1, longitude: 9.3, timeZone: Europe/Berlin }
deterrents:
  valve:
    { driver: http, on: { url: http://127.0.0.1:9/on }, off: { url: http://127.0.0.1:9/off },
      seconds: 10, coolDownSeconds: 60 }
rules:
  - { name: Boar at night, labels: [boar], minimumScore: 0.7, hours: sunset-sunrise, fire: [valve] }
`,
    )
    return testRules(file, dataDir, { since, environment: {}, now: NOW, ...(most !== undefined && { most }) })
  }

  test('says what would have fired, and why everything else would not', async () => {
    record(
      seen('too-old', '2026-05-01T11:00:00Z'),
      seen('by-day', '2026-05-01T15:00:00Z'),
      seen('unsure', '2026-05-01T21:00:00Z', { score: 0.5 }),
      seen('fires', '2026-05-01T21:10:00Z'),
      seen('too-soon', '2026-05-01T21:10:30Z'),
      seen('person', '2026-05-01T22:00:00Z', { label: 'person', endedAt: '2026-05-01T22:03:00Z' }),
      seen('beside-a-person', '2026-05-01T22:03:40Z'),
      seen('after-the-person', '2026-05-01T22:05:00Z'),
    )
    const { text, isDone } = await run()
    expect(isDone).toBe(true)
    const answers = text.split('\n').filter((line) => line.startsWith('  Boar at night: '))
    expect(answers.map((line) => line.slice('  Boar at night: '.length))).toEqual([
      'no, it is outside sunset-sunrise',
      'no, the score 0.5 is below 0.7',
      'fires valve for 10 s',
      expect.stringMatching(/^would fire valve, which refuses: .*pause/),
      'no, the label is person',
      expect.stringMatching(/^would fire valve, which refuses: .*person/),
      'fires valve for 10 s',
    ])
    expect(text).toContain('2026-05-01 23:10:00  boar on orchard, score 0.9')
    expect(text).toContain('Boar at night would have fired 2 times.')
  })

  test('says when it takes only the newest detections', async () => {
    record(
      seen('old', '2026-05-02T09:00:00Z'),
      seen('new', '2026-05-02T10:00:00Z'),
      seen('last', '2026-05-02T11:00:00Z'),
    )
    expect((await run('24h', 3)).text).toMatch(/^3 detections since [-0-9: ]+, by /)
    const { text } = await run('24h', 2)
    expect(text).toMatch(/^The newest 2 detections since [-0-9: ]+ \(there are more: choose a later --since\), by /)
    expect(text).not.toContain('11:00:00  boar')
    expect(text).toContain('13:00:00  boar')
  })

  test('needs no record, and names mistakes', async () => {
    expect((await run()).text).toContain('0 detections since 2026-05-01 14:00:00')
    expect(() => takeFlags(['--since'], { since: 'text' })).toThrow(/--since/)
    await expect(run('yesterday')).rejects.toThrow(/--since is a time/)
    await writeFile(file, 'rules: [{ name: A }]')
    const outcome = await testRules(file, dataDir, { since: '1h', environment: {}, now: NOW })
    expect(outcome).toMatchObject({ isDone: false, text: expect.stringMatching(/^\S+gateway\.yaml:1:\d+: rules\.0/) })
  })
})
