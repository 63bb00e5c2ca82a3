import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'

const MAIN = join(import.meta.dirname, 'main.ts')

/** Starts the agent as people do, with only PATH from this process's environment. */
function run(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, ...environment } })
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

test('the agent runs without a hub, prints the fingerprint and the token, logs no secret, and ends with code 0 on SIGTERM', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-main-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const flags = ['--hub', 'http://127.0.0.1:9', '--name', 'Gate', '--data', dataDir, '--port', '0']
  const { child, ended } = run(flags, { GATEWAY_HOST: '127.0.0.1', GATEWAY_INVITATION_CODE: 'very-secret' })
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (log += String(chunk)))
  await vi.waitFor(() => expect(log).toContain('hub found: failed'), { timeout: 30_000 })
  const { port } = JSON.parse(log.split('\n')[0]!) as { port: number }
  const health = await fetch(`http://127.0.0.1:${port}/api/health`)
  expect(await health.json()).toMatchObject({ status: 'ok', gatewayId: null })
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 0, errors: '' })
  expect(JSON.parse(log.split('\n')[1]!)).toMatchObject({
    fingerprint: expect.stringMatching(/^[A-Z2-7]{4}( [A-Z2-7]{4}){7}$/),
    deviceToken: expect.stringMatching(/^DT-[0-9A-F]{12}$/),
  })
  expect(log.match(/DT-/g)).toHaveLength(1)
  expect(log).not.toContain('very-secret')
})
