/** What a person at a terminal sees of the programs. script(1) gives them one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { HUB_COMMAND } from '../harness/hub.ts'
import { commandOf } from '../harness/programs.ts'

const CLEARED = '\r\u001b[2K'
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-terminal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** With a person at a terminal, whose `stderr` may lead elsewhere. */
function atTerminal(command: readonly string[], env: Record<string, string>, redirect = '') {
  const line = `${[process.execPath, ...command].map((word) => `'${word}'`).join(' ')} ${redirect}`
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: { ...process.env, HUB_DATA_DIR: join(folder, 'data'), ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)))
  return {
    child,
    output: () => output,
    ended: once(child, 'exit').then(([code]) => ({ code: code as number, output })),
  }
}

function withDatabase(name: string): string {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  database.exec(`create table migrations (name text primary key, applied_at double precision not null);
    create table pages (page blob); insert into pages values (randomblob(4000000))`)
  database.close()
  return `sqlite:${path}`
}

test('the agent logs lines for people at a terminal, and JSON elsewhere', async () => {
  const flags = ['--hub', 'http://127.0.0.1:9', '--data', join(folder, 'agent'), '--port', '0']
  const agent = [...commandOf('hedgerow-gateway'), ...flags]
  const seen = atTerminal(agent, { GATEWAY_HOST: '127.0.0.1' })
  await expect.poll(seen.output, { timeout: 60_000 }).toMatch(/^\d\d:\d\d:\d\d warn hub found: failed/m)
  expect(seen.output()).not.toContain('{"level"')
  const file = join(folder, 'agent.log')
  const piped = atTerminal(
    [...agent, '--data', join(folder, 'other')],
    { GATEWAY_HOST: '127.0.0.1' },
    `| tee '${file}'`,
  )
  await expect.poll(piped.output, { timeout: 60_000 }).toContain('"msg":"hub found: failed')
})

test('a backup shows how far it is, and what failed in words: no folder, a file in the way, a full disk', async () => {
  const env = { HUB_DATABASE_URL: withDatabase('large.sqlite') }
  const made = await atTerminal([...HUB_COMMAND, 'backup', join(folder, 'made')], env).ended
  expect(made.output.replaceAll(CLEARED, '<clear>')).toMatch(/<clear>Copying the database: [\d.]+ of 4\.\d MB/)
  expect(made.output).toContain(`${CLEARED}Backed up to ${join(folder, 'made')}.`)
  expect(made.code).toBe(0)
  const restored = await atTerminal([...HUB_COMMAND, 'restore', join(folder, 'made')], {
    HUB_DATABASE_URL: `sqlite:${join(folder, 'target.sqlite')}`,
  }).ended
  expect(restored.output).toContain(`${CLEARED}Checking the backup: 0 s`)
  writeFileSync(join(folder, 'file'), '')
  for (const [command, file, words] of [
    ['backup', 'none/x', 'cannot be written: there is no such file or folder (ENOENT).'],
    ['backup', 'file/x', 'cannot be written: a part of its path is no folder (ENOTDIR).'],
    ['support', 'file/x', 'cannot be used: a part of its path is no folder (ENOTDIR).'],
    ['support', 'none/x', 'cannot be used: there is no such file or folder (ENOENT).'],
    ['restore', 'file/x', 'cannot be read: a part of its path is no folder (ENOTDIR).'],
    ['restore', '', 'cannot be read: it is a folder (EISDIR).'],
  ] as const) {
    const { code, output } = await atTerminal([...HUB_COMMAND, command, join(folder, file)], env).ended
    expect(output).toContain(`${join(folder, file)} ${words}`)
    expect(output).not.toMatch(/^\s+at /m)
    expect(code).toBe(1)
  }
})

test('commands of the agent say in words which file cannot be used', async () => {
  writeFileSync(join(folder, 'in-the-way'), '')
  const env = { GATEWAY_DATA_DIR: join(folder, 'in-the-way', 'data') }
  for (const command of ['init', 'reset', 'doctor', 'status', 'back', '--port=0']) {
    const { code, output } = await atTerminal([...commandOf('hedgerow-gateway'), command], env).ended
    expect(output).toMatch(/in-the-way\S* cannot be used: a part of its path is no folder \(ENOTDIR\)\./)
    expect(output).not.toMatch(/^\s+at /m)
    expect(code).not.toBe(0)
  }
  // What supports somebody says what is wrong, also then.
  const described = join(folder, 'described')
  const { code } = await atTerminal([...commandOf('hedgerow-gateway'), 'support', described], env).ended
  expect(code).toBe(0)
  expect(readFileSync(described, 'utf8')).toMatch(/"check": "agent",\s+"state": "FAIL"/)
})
