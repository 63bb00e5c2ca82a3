/** The whole way back: the launcher, agents as processes of their own, a tunnel, and a hub that hears of it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { makeRelease, writeVersion } from '../../testing/signed-release.ts'

const MAIN = join(import.meta.dirname, '../main.ts')
const PATIENCE = { timeout: 90_000, interval: 50 }

let root: string
let hub: FixtureHub
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-crashing-'))
  for (const folder of ['updates', 'data']) mkdirSync(join(root, folder))
  copyFileSync(join(import.meta.dirname, 'launch.sh'), join(root, 'launch'))
  writeFileSync(join(root, 'root.pub'), `${makeRelease(5).rootKey}\n`)
  const seen = { keys: 1, release: 5, createdAt: 0 }
  writeFileSync(join(root, 'data/update.json'), JSON.stringify({ seen, begun: { number: 5, attempt: 7 } }))
  hub = await startFixtureHub()
  writeVersion(join(root, 'current'), { number: 3, line: `exec ${process.execPath} ${MAIN} "$@"` })
})
afterEach(async () => {
  await hub.stop()
  rmSync(root, { recursive: true })
})

/** Version 5 runs the same sources, with these lines beside them. */
function crashing(lines: string): void {
  const path = join(root, 'crash.mjs')
  writeFileSync(path, `import { existsSync } from 'node:fs'\n${lines}\n`)
  writeVersion(join(root, 'updates/a'), { number: 5, line: `exec ${process.execPath} --import ${path} ${MAIN} "$@"` })
}

function launch() {
  const child = spawn('sh', [join(root, 'launch'), '--port', '0', '--hub', hub.url.href, '--name', 'Barn'], {
    env: { PATH: process.env.PATH, GATEWAY_DATA_DIR: join(root, 'data'), GATEWAY_LOG_LEVEL: 'silent' },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return ended
}
const isBack = (why: string) =>
  vi.waitFor(() => {
    if (hub.registrations.length > 0) hub.decide({ status: 'approved' })
    expect(hub.heartbeats.at(-1)).toMatchObject({
      release: { number: 3 },
      update: {
        number: 5,
        attempt: 7,
        state: 'failed',
        message: `Version 0.5.0: it ${why}, the last time with exit code 1; version 0.3.0 runs again.`,
      },
    })
  }, PATIENCE)

it('a version that beats once and then crashes is replaced by the one before, which tells the hub', async () => {
  crashing(`setInterval(() => {
    if (existsSync(${JSON.stringify(join(root, 'updates/current'))})) process.exit(1)
  }, 20)`)
  symlinkSync('a', join(root, 'updates/trial'))
  void launch()
  await isBack('ended 3 times before it was confirmed')
  // It did beat, as a version on trial.
  expect(hub.heartbeats).toContainEqual(expect.objectContaining({ release: expect.objectContaining({ number: 5 }) }))
  expect(readdirSync(join(root, 'updates'))).toEqual(['a'])
  // Those that died before they could write that they run are not counted here.
  await vi.waitFor(() => expect(hub.heartbeats.at(-1)!.restarts!.lastHour).toBeGreaterThan(0), PATIENCE)
})

it('a confirmed version that crashes later is replaced, whose service starts it each time', async () => {
  crashing('setTimeout(() => process.exit(1), 100)')
  symlinkSync('a', join(root, 'updates/current'))
  symlinkSync('installed', join(root, 'updates/before'))
  for (let start = 0; start < 5; start++) expect(await launch()).toEqual([1, null])
  expect(existsSync(join(root, 'updates/failed'))).toBe(false)
  void launch()
  await isBack('crashed 5 times within 10 minutes')
  expect(hub.heartbeats.at(-1)!.problems).toContainEqual(expect.stringMatching(/^It went back from version 0\.5\.0\./))
})
