import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../testing/serve-http.ts'
import { findAgent } from '../agent-file.ts'
import { openRecord } from '../detections/record.ts'
import { startGateway } from '../gateway.ts'
import { findCommand } from './commands.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-doctor-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

/** A hub whose clock is off by so many seconds. */
const hubAt = (offSeconds: number) =>
  serveHttp((_request, response) => {
    response.setHeader('date', new Date(Date.now() + offSeconds * 1_000).toUTCString()).end('{}')
  })
async function start(): Promise<void> {
  const log = pino({ level: 'silent' })
  const gateway = await startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, searchDomains: [], log })
  onTestFinished(() => gateway.stop())
}
async function run(name: string, args: string[], environment = {}) {
  const outcome = await findCommand([name])!.run([...args, '--data', dataDir], environment)
  if (outcome === 'help') throw new Error('help')
  return outcome
}
const doctor = async (hub: string) => {
  const { text, isDone } = await run('doctor', ['--hub', hub])
  return { isDone, lines: text.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' ')) }
}

test('says that no agent runs, and examines the rest of the device', async () => {
  const { isDone, lines } = await doctor(await hubAt(0))
  expect(isDone).toBe(false)
  expect(lines[0]).toBe(`FAIL agent No gateway runs with ${dataDir}.`)
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(ok|warn) disk [\d,]+ MiB free/),
      expect.stringMatching(/^ok hub http.* answers$/),
      expect.stringMatching(/^ok clock /),
    ]),
  )
})

test('names a hub that does not answer, a server that is none, and a clock that is off', async () => {
  const closed = await doctor('http://127.0.0.1:9')
  expect(closed.lines).toContainEqual(expect.stringMatching(/^FAIL hub http:\/\/127\.0\.0\.1:9 does not answer: /))
  const printer = await doctor(await serveHttp((_request, response) => void response.writeHead(404).end()))
  expect(printer.lines).toContainEqual(expect.stringMatching(/^FAIL hub .* answers 404: is this a hub\?$/))
  const ahead = await doctor(await hubAt(3_600))
  expect(ahead.lines).toContainEqual(expect.stringMatching(/^FAIL clock (3599|3600|3601) s off the hub's: set it/))
})

test('asks the agent for its version, tunnel and parts, and names an error of gateway.yaml', async () => {
  await start()
  const { url, token } = (await findAgent(dataDir))!
  const status = {
    cameras: [
      { name: 'gate', state: 'online', fps: 5 },
      { name: 'pond', state: 'offline', fps: 0 },
      { name: 'yard', state: 'disabled', fps: 0 },
      { name: 'barn', state: 'frozen', fps: 0 },
    ],
    deterrents: [{ name: 'siren', state: 'fault' }],
    problems: ['The sun is too bright'],
  }
  const put = await fetch(`${url}/api/v1/status`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(status),
  })
  expect(put.status).toBe(200)
  await writeFile(join(dataDir, 'gateway.yaml'), 'rules: 7')
  const { isDone, lines } = await doctor(await hubAt(0))
  expect(isDone).toBe(false)
  expect(lines).toEqual(
    expect.arrayContaining([
      'ok agent runs',
      expect.stringMatching(/^ok version \d/),
      expect.stringMatching(/^FAIL file .*gateway.yaml:1:/),
      expect.stringMatching(/^(warn|FAIL) tunnel /),
      'ok camera gate: online',
      'FAIL camera pond: offline',
      'ok camera yard: disabled',
      'FAIL camera barn: frozen',
      'FAIL deterrent siren: fault',
      'warn problem The sun is too bright',
    ]),
  )
})

test.each([
  { file: 'record.sqlite', content: '', warning: undefined },
  { file: 'record.sqlite', content: 'garbage'.repeat(1_000), warning: /The record of detections cannot be read: / },
  { file: 'models', content: 'no folder', warning: /models cannot be used: a part of its path is no folder/ },
  { file: 'agent.json', content: '{', warning: undefined },
])('examines a device whose $file holds "$content", and describes it', async ({ file, content, warning }) => {
  await writeFile(join(dataDir, 'gateway.yaml'), 'rules: []')
  await writeFile(join(dataDir, file), content)
  const { lines } = await doctor(await hubAt(0))
  expect(lines[0]).toMatch(
    file === 'agent.json' ? /^FAIL agent .*agent.json is damaged/ : /^FAIL agent No gateway runs/,
  )
  expect(lines).toContainEqual(expect.stringMatching(warning ?? /^ok file .*no errors/))
  expect(await run('check', [])).toMatchObject({ isDone: true })
  expect(await run('support', [join(dataDir, 'support.json')])).toMatchObject({ isDone: true })
})

test('a record whose rows are damaged is told in a sentence', async () => {
  await writeFile(join(dataDir, 'gateway.yaml'), 'rules: []')
  const record = openRecord(join(dataDir, 'record.sqlite'), {
    settings: () => ({ days: 14, megabytes: 10 }),
    log: pino({ level: 'silent' }),
    clock: Date.now,
  })
  record.close()
  const database = new DatabaseSync(join(dataDir, 'record.sqlite'))
  database.exec("insert into detections values ('a', 1, 'yard', 'fox', 'torn')")
  database.close()
  const { lines } = await doctor(await hubAt(0))
  expect(lines.join('\n')).toMatch(/The record of detections cannot be read: malformed JSON/)
})

test('support writes a private new file without names, addresses and values', async () => {
  await start()
  const hub = await hubAt(0)
  await writeFile(join(dataDir, 'gateway.yaml'), 'sources: { api: { token: "PLANTED-PLANTED-PLANTED" } }')
  const file = join(dataDir, 'support.json')
  const environment = { GATEWAY_HUB_URL: hub, GATEWAY_NAME: 'PLANTED', GATEWAY_LOCATION: 'PLANTED', API_KEY: 'PLANTED' }
  expect(await run('support', [file], environment)).toMatchObject({ isDone: true })
  const text = await readFile(file, 'utf8')
  for (const secret of ['PLANTED', hub, dataDir, 'Orchard', 'API_KEY']) expect(text).not.toContain(secret)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(text)).toMatchObject({
    form: 'sources',
    variables: ['GATEWAY_HUB_URL', 'GATEWAY_NAME', 'GATEWAY_LOCATION'],
    checks: expect.arrayContaining([{ check: 'agent', state: 'ok' }]),
    agent: { armed: true, steps: expect.arrayContaining([expect.objectContaining({ step: 'hubFound' })]) },
  })
  expect(await run('support', [file], environment)).toEqual({
    text: `${file} exists already. Name a new file.`,
    isDone: false,
  })
  await expect(findCommand(['support'])!.run([], {})).rejects.toThrow('needs the name of a new file')
  expect(existsSync(join(dataDir, '--data'))).toBe(false)
})
