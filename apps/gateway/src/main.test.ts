import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'

const MAIN = join(import.meta.dirname, 'main.ts')

/**
 * Starts the agent as people do, with only PATH and the cache of compiled sources from this process's environment. New
 * files may be for everybody.
 */
function run(args: string[], environment: Record<string, string> = {}) {
  const command = ['-c', 'umask 000; exec "$0" "$@"', process.execPath, MAIN, ...args]
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn('/bin/sh', command, { env: { PATH, NODE_COMPILE_CACHE, ...environment } })
  const ended = Promise.all([once(child, 'exit'), text(child.stderr)]).then(([[code], errors]) => ({ code, errors }))
  return { child, ended }
}

test.each([
  [['--colour', 'green'], {}, '--colour'],
  [[], { GATEWAY_HUBURL: 'https://hub.example.net' }, 'GATEWAY_HUBURL'],
  [[], { GATEWAY_PORT: 'eighty' }, 'GATEWAY_PORT'],
  [[], { GATEWAY_HUB_CA_FILE: '/nonexistent' }, 'GATEWAY_HUB_CA_FILE'],
  [[], { GATEWAY_HUB_CA_FILE: MAIN }, 'GATEWAY_HUB_CA_FILE'],
])('settings %j %j end the start with code 1 and one line that names the setting', async (args, environment, name) => {
  const { child, ended } = run(args, environment)
  child.stdout.resume()
  const { code, errors } = await ended
  expect(code).toBe(1)
  expect(errors).toContain(name)
  expect(errors.trim().split('\n').length).toBe(1)
})

test('the agent runs without a hub, prints fingerprint and token, logs no secret, and ends on SIGTERM', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-main-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const flags = ['--hub', 'http://127.0.0.1:9', '--name', 'Gate', '--data', dataDir, '--port', '0']
  const { child, ended } = run(flags, { GATEWAY_HOST: '127.0.0.1', GATEWAY_INVITATION_CODE: 'very-secret' })
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (log += String(chunk)))
  await vi.waitFor(() => expect(log).toContain('hub found: failed'), { timeout: 30_000 })
  const lineWith = (word: string) => JSON.parse(log.split('\n').find((line) => line.includes(`"${word}"`))!) as object
  const { port } = lineWith('port') as { port: number }
  const health = await fetch(`http://127.0.0.1:${port}/api/health`)
  expect(await health.json()).toMatchObject({ status: 'ok', gatewayId: null })
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 0, errors: '' })
  // The password of the device's interface is printed before or after this line.
  expect(lineWith('deviceToken')).toMatchObject({
    fingerprint: expect.stringMatching(/^[A-Z2-7]{4}( [A-Z2-7]{4}){7}$/),
    deviceToken: expect.stringMatching(/^DT-[0-9A-F]{12}$/),
  })
  expect(log.match(/DT-/g)).toHaveLength(1)
  expect(log).not.toContain('very-secret')
})

test('a SIGTERM in the middle of the start ends the agent after it, and no file is left half-written', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-main-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const flags = ['--hub', 'http://127.0.0.1:9', '--data', dataDir, '--port', '0']
  const { child, ended } = run(flags, { GATEWAY_HOST: '127.0.0.1' })
  child.stdout.resume()
  const files = () => readdir(dataDir)
  await vi.waitFor(async () => expect(await files()).not.toEqual([]), { timeout: 120_000, interval: 1 })
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 0, errors: '' })
  const left = await files()
  expect(left.filter((name) => name.endsWith('.tmp') || name === 'agent.json')).toEqual([])
})

test('in a directory that others can read, no other user can read what the agent keeps', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-main-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755)
  await mkdir(join(dataDir, 'recordings'), { mode: 0o755 })
  await writeFile(join(dataDir, 'recordings', 'eye-old.jpg'), 'a picture', { mode: 0o644 })
  await writeFile(join(dataDir, 'record.sqlite'), '', { mode: 0o644 })
  const cameras = { gate: { url: 'http://127.0.0.1:9/' } }
  const sources = { eye: { cameras: ['gate'] }, api: { loopbackNeedsToken: false } }
  await writeFile(join(dataDir, 'gateway.yaml'), JSON.stringify({ cameras, sources }), { mode: 0o600 })
  const { child, ended } = run(['--data', dataDir, '--port', '0'], { GATEWAY_HOST: '127.0.0.1' })
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (log += String(chunk)))
  await vi.waitFor(() => expect(log).toContain('"device page is open"'), { timeout: 120_000 })
  const [, port] = /"port":(\d+)/.exec(log)!
  const seen = { id: 'a', camera: 'gate', label: 'boar', severity: 'alert', score: 0.9, startedAt: new Date() }
  const reported = await fetch(`http://127.0.0.1:${port}/api/v1/detections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ detections: [seen] }),
  })
  expect(reported.status).toBe(200)
  const names = await readdir(dataDir, { recursive: true })
  const modes = await Promise.all(
    names.map(async (name) => {
      // A temporary file may be gone by now.
      const found = await stat(join(dataDir, name)).catch(() => undefined)
      return { name, mode: found?.mode ?? 0 }
    }),
  )
  expect(modes.filter(({ mode }) => (mode & 0o077) !== 0).map(({ name }) => name)).toEqual([])
  expect(names).toEqual(
    expect.arrayContaining(['keys.json', 'record.sqlite', 'record.sqlite-wal', 'learning.sqlite', 'recordings']),
  )
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})
