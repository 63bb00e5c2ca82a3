/** Tests the launcher itself, with small versions that crash, hang, or are confirmed. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
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

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-launch-'))
  copyFileSync(join(import.meta.dirname, 'launch.sh'), join(root, 'launch'))
  mkdirSync(join(root, 'updates'))
  mkdirSync(join(root, 'tools'))
  tool('sync', '')
  tool('sleep', '[ "$1" = 2 ] || exec /bin/sleep "$@"')
  version('current', 'exit 3')
})
afterEach(() => rmSync(root, { recursive: true }))

const tool = (name: string, line: string) =>
  writeFileSync(join(root, 'tools', name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
const link = (name: string, to: string) => symlinkSync(to, join(root, 'updates', name))
const links = () => readdirSync(join(root, 'updates')).filter((name) => name.length > 1)
const wasStarted = () => {
  const tried = (name: string) => existsSync(join(root, 'updates/a', name))
  return ['.try1', '.try2', '.try3'].filter(tried).length
}

/** A version whose program prints where it is, then runs `line`. `$here` is the launcher's directory. */
function version(directory: string, line: string): void {
  mkdirSync(join(root, directory, 'bin'), { recursive: true })
  const script = ['#!/bin/sh', `here=${root}`, `echo ${directory} "slot=$HEDGEROW_SLOT" "$@"`, line, ''].join('\n')
  writeFileSync(join(root, directory, 'bin/hedgerow-gateway'), script, { mode: 0o755 })
}

type Launched = { process: ChildProcess; said: string[]; ended: Promise<number | null> }

function launch({ args = [] as string[], trialSeconds = 300 } = {}): Launched {
  const child = spawn('sh', [join(root, 'launch'), ...args], {
    env: { PATH: `${join(root, 'tools')}:/usr/bin:/bin`, HEDGEROW_TRIAL_SECONDS: String(trialSeconds) },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  child.stdout.on('data', (data: Buffer) => said.push(...data.toString().split('\n').filter(Boolean)))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { process: child, said, ended }
}

async function hasSaid({ process: child, said }: Launched, line: string): Promise<void> {
  while (!said.includes(line)) await once(child.stdout!, 'data')
}

it('starts the installed version with its arguments, and ends with its code', async () => {
  const launched = launch({ args: ['--port', '0'] })
  expect([await launched.ended, launched.said]).toEqual([3, ['current slot= --port 0']])
})

it('gives up a new version that died three times, and starts the previous one', async () => {
  version('updates/a', 'exit 1')
  link('trial', 'a')
  const launched = launch()
  expect(await launched.ended).toBe(3)
  expect(launched.said).toEqual([...Array<string>(3).fill('updates/a slot=a'), 'current slot='])
  expect(links()).toEqual(['failed'])
})

it('gives up a new version that nobody confirms in time, also one that ignores SIGTERM', async () => {
  tool('sleep', '[ "$1" -ge 2 ] || exec /bin/sleep "$@"')
  version('updates/a', 'trap "" TERM; while :; do /bin/sleep 0.1; done')
  link('trial', 'a')
  const launched = launch({ trialSeconds: 1 })
  expect(await launched.ended).toBe(3)
  expect(launched.said).toEqual(['updates/a slot=a', 'current slot='])
  expect(links()).toEqual(['failed'])
})

it('lets a confirmed version run, and starts it from then on', async () => {
  version(
    'updates/a',
    'ln -s a "$here/updates/current"; rm "$here/updates/trial"; /bin/sleep 2; echo two seconds later; exec /bin/sleep 30',
  )
  link('trial', 'a')
  const launched = launch({ trialSeconds: 1 })
  await hasSaid(launched, 'updates/a slot=a')
  // The trial is over before the version prints this; a stop shows that it still runs.
  await hasSaid(launched, 'two seconds later')
  launched.process.kill('SIGTERM')
  expect(await launched.ended).toBe(143)
  expect(links()).toEqual(['current'])
  version('updates/a', 'exit 5')
  const next = launch()
  expect([await next.ended, next.said]).toEqual([5, ['updates/a slot=a']])
})

it('starts the next version when the gateway asks for it, and passes a stop on', async () => {
  version('current', 'ln -s a "$here/updates/trial"; exit 75')
  version('updates/a', 'trap "echo stopped; exit 0" TERM; echo ready; while :; do /bin/sleep 0.1; done')
  const launched = launch()
  await hasSaid(launched, 'ready')
  launched.process.kill('SIGTERM')
  expect(await launched.ended).toBe(0)
  expect(launched.said).toEqual(['current slot=', 'updates/a slot=a', 'ready', 'stopped'])
  // A stop is no failure of the version.
  expect(links()).toEqual(['trial'])
})

it('runs commands with the confirmed version, and does not count them as starts', async () => {
  version('updates/a', 'exit 0')
  link('trial', 'a')
  for (const args of [['status', '--data', 'x'], ['--help'], ['--version']]) {
    const launched = launch({ args })
    expect([await launched.ended, launched.said]).toEqual([3, [`current slot= ${args.join(' ')}`]])
  }
  expect(wasStarted()).toBe(0)
})

it('runs the confirmed version beside one on trial, and does not count it as a start, also without its launcher', async () => {
  version('updates/a', 'trap "exit 0" TERM; echo "pid $$"; while :; do /bin/sleep 0.1; done')
  link('trial', 'a')
  const first = launch()
  await hasSaid(first, 'updates/a slot=a')
  const second = async () => {
    const { ended, said } = launch({ args: ['--port', '0'] })
    expect([await ended, said]).toEqual([3, ['current slot= --port 0']])
    expect(wasStarted()).toBe(1)
  }
  await second()
  await vi.waitFor(() => expect(first.said.join()).toMatch(/pid \d+/))
  const onTrial = Number(/pid (\d+)/.exec(first.said.join())![1])
  onTestFinished(() => void process.kill(onTrial, 'SIGTERM'))
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  await second()
})

it.each(['mkdir', 'sync', 'mv'])(
  'killed at any %s, it starts one version, and finally the previous one',
  async (name) => {
    version('updates/a', 'exit 1')
    link('trial', 'a')
    for (const moment of ['before', 'after']) {
      const kill = `[ -e ${root}/killed-${moment} ] || { touch ${root}/killed-${moment}; kill -9 $PPID; exit 1; }`
      const act = name === 'sync' ? ':' : `/bin/${name} "$@"`
      tool(name, moment === 'before' ? `${kill}\nexec ${act}` : `${act}; code=$?\n${kill}\nexit $code`)
      const { ended } = launch()
      await ended
    }
    rmSync(join(root, 'tools', name))
    tool('sync', '')
    const last = launch()
    expect(await last.ended).toBe(3)
    expect(last.said.at(-1)).toBe('current slot=')
    expect(last.said.length).toBeLessThanOrEqual(4)
    expect(links()).toEqual(['failed'])
  },
)

it.each([
  ['a disk that takes no more directories', 'mkdir', 'exit 1'],
  ['a disk that takes no changes', 'mkdir', 'exit 1', 'mv', 'exit 1'],
  ['a sync that fails', 'sync', 'exit 1'],
])('starts no trial that it cannot count, on %s', async (_, ...tools) => {
  for (let index = 0; index < tools.length; index += 2) tool(tools[index]!, tools[index + 1]!)
  version('updates/a', 'exit 1')
  link('trial', 'a')
  const launched = launch()
  expect([await launched.ended, launched.said]).toEqual([3, ['current slot=']])
})

it.each(['c', '../a', '/etc', ''])('follows no link to %j', async (target) => {
  version('updates/a', 'exit 1')
  if (target) for (const name of ['current', 'trial']) link(name, target)
  else writeFileSync(join(root, 'updates/current'), 'a')
  const launched = launch()
  expect([await launched.ended, launched.said]).toEqual([3, ['current slot=']])
})

const isRoot = process.getuid?.() === 0
it.skipIf(!isRoot)('root starts nothing that another user has fetched (skipped without root)', async () => {
  version('updates/a', 'exit 4')
  link('current', 'a')
  chownSync(join(root, 'updates'), 65_534, 65_534)
  const { said, ended } = launch({ args: ['--port', '0'] })
  expect([await ended, said]).toEqual([3, ['current slot= --port 0']])
})
