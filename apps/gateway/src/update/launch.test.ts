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
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

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
/** Those that decide; `why` is for people. */
const links = () => readdirSync(join(root, 'updates')).filter((name) => name.length > 1 && name !== 'why')
const target = (name: string) => readlinkSync(join(root, 'updates', name))
/** The starts that were counted in this boot. */
const starts = (slot = 'a') => {
  const boots = join(root, 'updates', slot, '.starts')
  return existsSync(boots) ? readdirSync(boots).flatMap((boot) => readdirSync(join(boots, boot))) : []
}

/** A version whose program prints where it is, then runs `line`. `$here` is the launcher's directory. */
function version(directory: string, line: string): void {
  mkdirSync(join(root, directory, 'bin'), { recursive: true })
  const script = ['#!/bin/sh', `here=${root}`, `echo ${directory} "slot=$HEDGEROW_SLOT" "$@"`, line, ''].join('\n')
  writeFileSync(join(root, directory, 'bin/hedgerow-gateway'), script, { mode: 0o755 })
}

type Launched = { process: ChildProcess; said: string[]; ended: Promise<number | null> }

function launch({ args = [] as string[], trialSeconds = 300, provingSeconds = 600 } = {}): Launched {
  const child = spawn('sh', [join(root, 'launch'), ...args], {
    env: {
      PATH: `${join(root, 'tools')}:/usr/bin:/bin`,
      HEDGEROW_TRIAL_SECONDS: String(trialSeconds),
      HEDGEROW_PROVING_SECONDS: String(provingSeconds),
    },
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
    'ln -s a "$here/updates/current"; rm "$here/updates/trial"; /bin/sleep 2; echo two seconds later; exec ' +
      '/bin/sleep 30',
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
  expect(starts()).toEqual([])
})

it('runs the confirmed version beside one on trial, and counts no start, also without its launcher', async () => {
  version('updates/a', 'trap "exit 0" TERM; echo "pid $$"; while :; do /bin/sleep 0.1; done')
  link('trial', 'a')
  const first = launch()
  await hasSaid(first, 'updates/a slot=a')
  const second = async () => {
    const { ended, said } = launch({ args: ['--port', '0'] })
    expect([await ended, said]).toEqual([3, ['current slot= --port 0']])
    expect(starts()).toHaveLength(1)
  }
  await second()
  await vi.waitFor(() => expect(first.said.join()).toMatch(/pid \d+/), 20_000)
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

/** The device started anew, `seconds` ago; a version that ran then is gone with it. */
function boot(name: string, seconds: number): void {
  tool('cat', `echo ${name}`)
  tool('cut', `echo ${seconds}`)
}
/** Starts the launcher as its service does after each end, and returns the versions that ran. */
async function run(times: number): Promise<string[]> {
  const all: string[] = []
  for (let index = 0; index < times; index++) {
    const { ended, said } = launch()
    await ended
    all.push(...said.map((line) => line.split(' ')[0]!))
  }
  return all
}
/** The device loses its power while the version runs. */
async function cutPower(launched: Launched): Promise<void> {
  await vi.waitFor(() => expect(launched.said.join()).toMatch(/pid \d+/), 20_000)
  launched.process.kill('SIGKILL')
  await once(launched.process, 'exit')
  process.kill(Number(/pid (\d+)/.exec(launched.said.join())![1]), 'SIGKILL')
  await launched.ended
}
const RUNS = 'echo "pid $$"; trap "exit 0" TERM; while :; do /bin/sleep 0.05; done'

describe('a confirmed version that crashes again and again', () => {
  beforeEach(() => {
    version('updates/a', 'exit 1')
    version('updates/b', 'exit 2')
    link('current', 'a')
  })

  it.each([
    ['an update', 'b', 'updates/b'],
    ['the installed version', 'installed', 'current'],
  ])('is replaced by the one before, %s, which says why', async (_, before, directory) => {
    link('before', before)
    expect(await run(6)).toEqual([...Array<string>(5).fill('updates/a'), directory])
    expect(links().toSorted()).toEqual(before === 'b' ? ['current', 'failed'] : ['failed'])
    expect([target('failed'), target('why')]).toEqual([
      'a',
      'crashed 5 times within 10 minutes, the last time with exit code 1',
    ])
    // The one before crashes too: it stays, because the other one is known to be bad.
    expect(new Set(await run(8))).toEqual(new Set([directory]))
  })

  it('is replaced when it crashes every few minutes for hours, and not when it crashes every hour', async () => {
    link('before', 'b')
    const crashes = async (everySeconds: number, times: number) => {
      const ran: string[] = []
      for (let index = 0; index < times; index++) {
        boot('c0ffee', 1_000 + index * everySeconds)
        ran.push(...(await run(1)))
      }
      return ran
    }
    expect(new Set(await crashes(3_600, 30))).toEqual(new Set(['updates/a']))
    // Those that decide nothing any more are not kept.
    expect(starts()).toHaveLength(24)
    for (const [seconds, times, within] of [
      [300, 10, 'an hour'],
      [480, 24, 'a day'],
      [3_500, 24, 'a day'],
    ] as const) {
      for (const name of ['current', 'before', 'failed']) rmSync(join(root, 'updates', name), { force: true })
      link('current', 'a')
      link('before', 'b')
      rmSync(join(root, 'updates/a/.starts'), { recursive: true })
      expect(await crashes(seconds, times + 1)).toEqual([...Array<string>(times).fill('updates/a'), 'updates/b'])
      expect(target('why')).toBe(`crashed ${times} times within ${within}, the last time with exit code 1`)
    }
  })

  it.each([
    ['there is no version before', undefined],
    ['the version before is this one', 'a'],
    ['the version before has lost its program', 'gone'],
    ['the link names no version', '../b'],
  ])('stays when %s', async (_, before) => {
    if (before === 'gone') rmSync(join(root, 'updates/b/bin'), { recursive: true })
    if (before !== undefined) link('before', before === 'gone' ? 'b' : before)
    expect(new Set(await run(8))).toEqual(new Set(['updates/a']))
    // Nothing decides by them, and they would fill the disk.
    expect(starts()).toEqual([])
  })

  it('is not what a version is that cannot run with its settings', async () => {
    link('before', 'b')
    version('updates/a', 'exit 78')
    expect(new Set(await run(8))).toEqual(new Set(['updates/a']))
    expect(starts()).toEqual([])
  })

  it('is not what a version is that asks for the next one', async () => {
    link('before', 'b')
    version('updates/a', 'echo before >> "$here/tools/ran"; ln -s b "$here/updates/trial"; exit 75')
    version('updates/b', 'echo next >> "$here/tools/ran"; exec /bin/sleep 30')
    const launched = launch()
    await hasSaid(launched, 'updates/b slot=b')
    launched.process.kill('SIGTERM')
    expect([await launched.ended, launched.said, starts()]).toEqual([143, ['updates/a slot=a', 'updates/b slot=b'], []])
  })

  it.each([
    ['asks for itself as the next one', 'exit 75', 'with exit code 75'],
    ['ends without an error', 'exit 0', 'with exit code 0'],
    ['is terminated, and not by its launcher', 'kill -TERM $$', 'by signal 15'],
    ['is killed', 'kill -KILL $$', 'by signal 9'],
    ['cannot be executed', 'exec /nowhere', 'with exit code 127'],
  ])('is what a version is that %s; its service makes the pauses', async (_, line, last) => {
    link('before', 'b')
    version('updates/a', line)
    expect(await run(6)).toEqual([...Array<string>(5).fill('updates/a'), 'updates/b'])
    expect(target('why')).toBe(`crashed 5 times within 10 minutes, the last time ${last}`)
  })

  it('is not one that people stop, or that loses its power', async () => {
    link('before', 'b')
    version('updates/a', RUNS)
    for (let index = 0; index < 6; index++) {
      const launched = launch()
      await vi.waitFor(() => expect(launched.said.join()).toMatch(/pid/), 20_000)
      launched.process.kill('SIGTERM')
      expect(await launched.ended).toBe(0)
    }
    expect(starts()).toEqual([])
    for (let index = 0; index < 12; index++) {
      boot(`b007${index}`, 60)
      const launched = launch()
      await cutPower(launched)
      expect(launched.said[0]).toMatch(/^updates\/a/)
    }
    // Only those of the last start of the device are kept.
    expect(starts()).toHaveLength(1)
  })

  it('is one that is killed with its launcher, as for lack of memory', async () => {
    link('before', 'b')
    version('updates/a', RUNS)
    for (let index = 0; index < 5; index++) await cutPower(launch())
    expect(await run(1)).toEqual(['updates/b'])
    expect(target('why')).toBe('crashed 5 times within 10 minutes, the last time killed')
  })

  it('stays on a disk that takes no changes', async () => {
    link('before', 'b')
    tool('mkdir', 'exit 1')
    expect(new Set(await run(7))).toEqual(new Set(['updates/a']))
    rmSync(join(root, 'tools/mkdir'))
    await run(5)
    for (const name of ['ln', 'mv', 'rm']) tool(name, 'exit 1')
    expect(await run(2)).toEqual(['updates/a', 'updates/a'])
    expect(target('current')).toBe('a')
  })
})

describe('a version that the hub has answered, and that must prove itself', () => {
  beforeEach(() => {
    version('updates/a', 'exit 1')
    link('current', 'a')
    link('proving', 'a')
    link('before', 'installed')
  })

  it('is replaced after three ends, at once and without its service', async () => {
    const launched = launch()
    expect(await launched.ended).toBe(3)
    expect(launched.said).toEqual([...Array<string>(3).fill('updates/a slot=a'), 'current slot='])
    expect([links(), target('why')]).toEqual([
      ['failed'],
      'ended 3 times before it was confirmed, the last time with exit code 1',
    ])
  })

  // With 78 too: the version before ran with the same settings.
  describe.each(['proving', 'trial'])('%s', (state) => {
    it.each(['exit 0', 'exit 1', 'exit 75', 'exit 78', 'exit 127', 'kill -HUP $$', 'kill -TERM $$', 'kill -KILL $$'])(
      'counts each end that nobody asked for, and rests after it: %s',
      async (line) => {
        tool('sleep', `if [ "$1" = 2 ]; then echo rest >> "${root}/tools/rests"; else exec /bin/sleep "$@"; fi`)
        version('updates/a', line)
        if (state === 'trial') {
          for (const name of ['current', 'proving', 'before']) rmSync(join(root, 'updates', name))
          link('trial', 'a')
        }
        const launched = launch()
        expect([await launched.ended, launched.said]).toEqual([
          3,
          [...Array<string>(3).fill('updates/a slot=a'), 'current slot='],
        ])
        expect(readFileSync(join(root, 'tools/rests'), 'utf8')).toBe('rest\n'.repeat(3))
      },
    )

    it('has its time once, however often it ends', async () => {
      tool('sleep', 'case $1 in 2 | 20) ;; *) exec /bin/sleep "$@" ;; esac')
      version('updates/a', '/bin/sleep 3; exit 1')
      if (state === 'trial') {
        for (const name of ['current', 'proving', 'before']) rmSync(join(root, 'updates', name))
        link('trial', 'a')
      }
      const launched = launch({ trialSeconds: 4, provingSeconds: 2 })
      expect(await launched.ended).toBe(3)
      expect(launched.said).toEqual(['updates/a slot=a', 'updates/a slot=a', 'current slot='])
    })
  })

  it('is replaced when it hangs', async () => {
    tool('sleep', '[ "$1" -ge 2 ] || exec /bin/sleep "$@"')
    version('updates/a', 'trap "" TERM; while :; do /bin/sleep 0.1; done')
    const launched = launch({ provingSeconds: 1 })
    expect(await launched.ended).toBe(3)
    expect(launched.said).toEqual(['updates/a slot=a', 'current slot='])
    expect(target('why')).toMatch(/^was not confirmed within/)
  })

  it('is not replaced once it is confirmed', async () => {
    version('updates/a', 'rm "$here/updates/proving"; /bin/sleep 3; echo three seconds later; exec /bin/sleep 30')
    const launched = launch({ provingSeconds: 1 })
    await hasSaid(launched, 'three seconds later')
    launched.process.kill('SIGTERM')
    expect(await launched.ended).toBe(143)
    expect(links().toSorted()).toEqual(['before', 'current'])
  })

  it.each(['proving', 'trial'])('is neither confirmed nor given up by ten power cuts (%s)', async (state) => {
    if (state === 'trial') {
      for (const name of ['current', 'proving', 'before']) rmSync(join(root, 'updates', name))
      link('trial', 'a')
    }
    const before = links()
    version('updates/a', RUNS)
    for (let index = 0; index < 10; index++) {
      boot(`b007${index}`, 60)
      const launched = launch()
      await cutPower(launched)
      expect(launched.said[0]).toBe('updates/a slot=a')
      expect(links()).toEqual(before)
    }
    // Three ends of its own do.
    version('updates/a', 'exit 1')
    boot('b00710', 60)
    expect((await run(1)).at(-1)).toBe('current')
  })

  it('is given up when the device started thirty times without its confirmation', async () => {
    for (let index = 0; index < 30; index++)
      mkdirSync(join(root, 'updates/a/.starts', `b007${index}`, '60-1-1'), { recursive: true })
    boot('b00799', 60)
    expect(await run(1)).toEqual(['current'])
    expect(target('why')).toBe('was not confirmed after 30 starts of the device')
  })
})

describe('within the launcher of an older installation', () => {
  /** As `npm run release` writes the program: it runs the launcher of its own version. */
  function withLauncher(directory: string, line: string): void {
    version(directory, line)
    const program = join(root, directory, 'bin/hedgerow-gateway')
    renameSync(program, `${program}-itself`)
    copyFileSync(join(import.meta.dirname, 'launch.sh'), join(root, directory, 'launch.sh'))
    const text = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
if [ -n "$HEDGEROW_ROOT" ] && [ -z "$HEDGEROW_LAUNCHER" ]; then
  HEDGEROW_LAUNCHER=within exec sh "$here/../launch.sh" "$@"
fi
exec "$here/hedgerow-gateway-itself" "$@"
`
    writeFileSync(program, text, { mode: 0o755 })
  }
  beforeEach(() => {
    copyFileSync(join(import.meta.dirname, '../../testing/first-launcher.sh'), join(root, 'launch'))
  })

  const accept =
    'cd "$here/updates"; [ -L proving ] || { ln -s installed before; ln -s a proving; ln -s a current; rm trial; }'

  it('a version that the hub answered once and that crashes then is replaced', async () => {
    withLauncher('updates/a', `${accept}; exit 1`)
    link('trial', 'a')
    expect(await run(1)).toEqual(['updates/a', 'updates/a', 'updates/a', 'updates/a', 'current'])
    expect([target('failed'), links()]).toEqual(['a', ['failed']])
  })

  it('one that asks for itself again and again is replaced, with pauses', async () => {
    withLauncher('updates/a', `${accept}; exit 75`)
    link('trial', 'a')
    expect(await run(1)).toEqual(['updates/a', 'updates/a', 'updates/a', 'updates/a', 'current'])
    rmSync(join(root, 'updates/failed'))
    withLauncher('updates/a', 'exit 75')
    rmSync(join(root, 'updates/a/.starts'), { recursive: true })
    link('current', 'a')
    link('before', 'installed')
    expect(await run(6)).toEqual([...Array<string>(5).fill('updates/a'), 'current'])
  })

  it('one that hangs later is replaced, and the first answer still has its own time', async () => {
    tool('sleep', '[ "$1" -ge 2 ] || exec /bin/sleep "$@"')
    withLauncher('updates/a', `${accept}; trap "" TERM; while :; do /bin/sleep 0.1; done`)
    link('trial', 'a')
    const launched = launch({ provingSeconds: 1 })
    expect(await launched.ended).toBe(3)
    expect(launched.said).toEqual(['updates/a slot=a', 'current slot='])
    rmSync(join(root, 'updates/failed'))
    link('trial', 'a')
    withLauncher('updates/a', 'trap "" TERM; while :; do /bin/sleep 0.1; done')
    expect(await launch({ trialSeconds: 1 }).ended).toBe(3)
    expect(links()).toEqual(['failed'])
  })

  it('a confirmed one that crashes again and again is replaced, and a stop reaches it', async () => {
    withLauncher('updates/a', 'exit 1')
    link('current', 'a')
    link('before', 'installed')
    expect(await run(6)).toEqual([...Array<string>(5).fill('updates/a'), 'current'])
    withLauncher('updates/a', 'trap "echo stopped; exit 0" TERM; echo ready; while :; do /bin/sleep 0.1; done')
    link('current', 'a')
    rmSync(join(root, 'updates/a/.starts'), { recursive: true })
    const launched = launch()
    await hasSaid(launched, 'ready')
    launched.process.kill('SIGTERM')
    expect(await launched.ended).toBe(0)
    expect([launched.said.at(-1), starts()]).toEqual(['stopped', []])
  })
})
