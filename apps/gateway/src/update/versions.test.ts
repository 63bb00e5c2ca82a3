/**
 * Every step of an update is interrupted, in every way that a power cut, a kill or a full disk can; then the real
 * launcher starts on the remaining files. Exactly one version that is whole must run, and the next update must work.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createFaultyFiles, Killed, type Fault, type FaultyFiles, type Survival } from '../../testing/faulty-files.ts'
import { openVersions, type Slot, type VersionOnDisk } from './versions.ts'

const LAUNCHER = join(import.meta.dirname, 'launch.sh')
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-versions-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FIRST = { version: '0.1.0', number: 1 }
const SECOND = { version: '0.2.0', number: 2 }
const THIRD = { version: '0.3.0', number: 3 }

/** A version that prints its number when it is whole, and ends. */
const treeOf = ({ version, number }: VersionOnDisk): Record<string, string> => ({
  'version.json': JSON.stringify({ version, number }),
  'lib/part-1': `part 1 of ${number}\n`,
  'lib/part-2': `part 2 of ${number}\n`,
  'bin/hedgerow-gateway': `#!/bin/sh
here=$(dirname "$0")/..
if [ "$(cat "$here/lib/part-1" "$here/lib/part-2" "$here/version.json")" = 'part 1 of ${number}
part 2 of ${number}
${JSON.stringify({ version, number })}' ]; then echo "whole ${number}"; else echo "damaged ${number}"; fi
exit 7 # whole
`,
})

/** The versions before an update: the installed one, and with `current` one that took its place. */
async function installed(current?: VersionOnDisk): Promise<ReturnType<typeof createFaultyFiles>> {
  const files = createFaultyFiles()
  await files.mkdir('/current')
  await files.mkdir('/updates')
  await files.writeTree('/current', treeOf(FIRST))
  if (current) {
    await files.mkdir('/updates/a')
    await files.writeTree('/updates/a', treeOf(current))
    await files.symlink('a', '/updates/current')
  }
  files.settle()
  return files
}

const tryNext = async (files: FaultyFiles, slot: Slot | '', next: VersionOnDisk) => {
  const versions = await openVersions({ root: '/', slot }, files)
  await versions.tryNext((directory) => files.writeTree(directory, treeOf(next)), next)
}

const launched = new Map<string, string[]>()

/** Runs the launcher and returns a line for each version that it starts. Equal directories are tried once. */
function launch(files: FaultyFiles): string[] {
  const content = files.describe()
  const known = launched.get(content)
  if (known) return known
  const root = mkdtempSync(join(folder, 'root-'))
  files.copyTo(root)
  copyFileSync(LAUNCHER, join(root, 'launch'))
  // Replaces `sync`: for the whole machine it is slow, and nothing here loses power.
  mkdirSync(join(root, 'tools'))
  writeFileSync(join(root, 'tools/sync'), '#!/bin/sh\n', { mode: 0o755 })
  // Allows one start only: the time of a signal would vary, so the second start fails.
  writeFileSync(join(root, 'tools/sleep'), '#!/bin/sh\n[ "$1" = 2 ] && kill -9 $PPID && exit\nexec /bin/sleep "$@"\n', {
    mode: 0o755,
  })
  const { stdout } = spawnSync('sh', [join(root, 'launch')], {
    encoding: 'utf8',
    env: { PATH: `${join(root, 'tools')}:/usr/bin:/bin`, HEDGEROW_TRIAL_SECONDS: '30' },
  })
  rmSync(root, { recursive: true })
  const ran = stdout.split('\n').filter(Boolean)
  launched.set(content, ran)
  return ran
}

const SURVIVALS: Survival[] = ['all', 'nothing', 'torn', { seed: 1 }, { seed: 2 }]

/** How many operations `run` takes on files like these. */
async function countOf(made: () => Promise<FaultyFiles>, run: (files: FaultyFiles) => Promise<void>) {
  const files = await made()
  const before = files.operations()
  await run(files)
  return { before, after: files.operations() }
}

describe.each([
  ['from the installed version', undefined, '' as const, SECOND],
  ['from an update', SECOND, 'a' as const, THIRD],
])('an update %s', (_, current, slot, next) => {
  const made = () => installed(current)
  const old = current ?? FIRST

  async function cutOff(fault: Fault): Promise<ReturnType<typeof createFaultyFiles>> {
    const files = await made()
    files.fault = fault
    await tryNext(files, slot, next).catch((error: unknown) => {
      if (!(error instanceof Killed) && !String(error).includes('ENOSPC')) throw error
    })
    return files
  }

  it('leaves one version that is whole wherever it is cut off', async () => {
    const { before, after } = await countOf(made, (files) => tryNext(files, slot, next))
    expect(after - before).toBeGreaterThan(15)
    const seen = new Set<string>()
    for (let at = before; at <= after; at++)
      for (const survival of SURVIVALS) {
        const left = (await cutOff({ at, kind: 'kill' })).survivors(survival)
        const ran = launch(left)
        expect(ran, `cut off at ${at}, ${JSON.stringify(survival)}`).toHaveLength(1)
        expect([`whole ${old.number}`, `whole ${next.number}`]).toContain(ran[0])
        seen.add(ran[0]!)
        // The old version starts again; the remaining files must not disturb the next update.
        if (ran[0] === `whole ${old.number}`) {
          await tryNext(left, slot, next)
          left.settle()
        }
        expect(await left.readlink('/updates/trial')).toBe(slot === 'a' ? 'b' : 'a')
      }
    expect(seen.size).toBe(2)
  })

  it('changes nothing on a full disk, wherever it becomes full', async () => {
    const { before, after } = await countOf(made, (files) => tryNext(files, slot, next))
    for (let at = before; at < after; at++) {
      const files = await cutOff({ at, kind: 'full' })
      const ran = launch(files.survivors({ seed: at }))
      expect([`whole ${old.number}`, `whole ${next.number}`]).toContain(ran[0])
      files.fault = undefined
      await tryNext(files, slot, next).catch(async (error: unknown) => {
        // The disk became full when everything was written already.
        if (!(await files.readlink('/updates/trial'))) throw error
      })
    }
  })

  it('is accepted completely or not at all, wherever that is cut off', async () => {
    const onTrial = async () => {
      const files = await made()
      await tryNext(files, slot, next)
      files.settle()
      return files
    }
    const free: Slot = slot === 'a' ? 'b' : 'a'
    const accept = async (files: FaultyFiles) => {
      const versions = await openVersions({ root: '/', slot: free }, files)
      expect(versions.isOnTrial()).toBe(true)
      await versions.accept()
    }
    const { before, after } = await countOf(onTrial, accept)
    for (let at = before; at <= after; at++)
      for (const survival of SURVIVALS) {
        const files = await onTrial()
        files.fault = { at, kind: 'kill' }
        await accept(files).catch(() => {})
        const left = files.survivors(survival)
        const ran = launch(left)
        expect(ran).toEqual([`whole ${next.number}`])
        const again = await openVersions({ root: '/', slot: free }, left)
        await again.accept()
        expect(await left.readlink('/updates/current')).toBe(free)
        expect(await left.readlink('/updates/before')).toBe(slot === '' ? 'installed' : slot)
        await expect(left.readlink('/updates/trial')).rejects.toThrow('ENOENT')
        expect([again.failed, again.isOnTrial(), again.isProving()]).toEqual([undefined, true, true])
      }
  })

  const proving = async () => {
    const files = await made()
    await tryNext(files, slot, next)
    const versions = await openVersions({ root: '/', slot: slot === 'a' ? 'b' : 'a' }, files)
    await versions.accept()
    files.settle()
    return files
  }

  it.each(['confirm', 'giveUp'] as const)('after its acceptance ends completely or not at all, by %s', async (verb) => {
    const free: Slot = slot === 'a' ? 'b' : 'a'
    const end = async (files: FaultyFiles) => {
      const versions = await openVersions({ root: '/', slot: free }, files)
      expect(versions.isProving()).toBe(true)
      await versions[verb]('did not work')
    }
    const { before, after } = await countOf(proving, end)
    const seen = new Set<string>()
    for (let at = before; at <= after; at++)
      for (const survival of SURVIVALS) {
        const files = await proving()
        files.fault = { at, kind: 'kill' }
        await end(files).catch(() => {})
        const left = files.survivors(survival)
        const ran = launch(left)
        expect(ran, `cut off at ${at}, ${JSON.stringify(survival)}`).toHaveLength(1)
        seen.add(ran[0]!)
        const isBack = ran[0] !== `whole ${next.number}`
        const again = await openVersions({ root: '/', slot: isBack ? slot : free }, left)
        const failed = isBack ? { ...next, why: 'did not work' } : undefined
        expect([again.failed, isBack && again.isOnTrial()]).toEqual([failed, false])
        // It goes back no second time, and the next update works.
        if (isBack) await tryNext(left, slot, { version: '0.9.0', number: 9 })
        const goesBackTo = await left.readlink('/updates/before').catch(() => undefined)
        expect(isBack ? goesBackTo : undefined).toBeUndefined()
      }
    expect(seen).toEqual(
      new Set(verb === 'confirm' ? [`whole ${next.number}`] : [`whole ${old.number}`, `whole ${next.number}`]),
    )
  })

  it('tries no other version before it is confirmed, and overwrites the one before only then', async () => {
    const free: Slot = slot === 'a' ? 'b' : 'a'
    const files = await proving()
    const versions = await openVersions({ root: '/', slot: free }, files)
    await expect(tryNext(files, free, { version: '0.9.0', number: 9 })).rejects.toThrow('on trial')
    await versions.confirm()
    expect(await files.readlink('/updates/before')).toBe(slot === '' ? 'installed' : slot)
    await tryNext(files, free, { version: '0.9.0', number: 9 })
    await expect(files.readlink('/updates/before')).rejects.toThrow('ENOENT')
  })
})

describe('a version that was given up', () => {
  it('is reported until that was written down, wherever that is cut off', async () => {
    const givenUp = async () => {
      const files = await installed(SECOND)
      await tryNext(files, 'a', THIRD)
      await files.rename('/updates/trial', '/updates/failed')
      files.settle()
      return files
    }
    const start = async (files: FaultyFiles) => {
      const versions = await openVersions({ root: '/', slot: 'a' }, files)
      expect(versions.failed).toEqual({ ...THIRD, why: undefined })
      await versions.clearFailure()
    }
    const { before, after } = await countOf(givenUp, start)
    for (let at = before; at <= after; at++)
      for (const survival of SURVIVALS) {
        const files = await givenUp()
        files.fault = { at, kind: 'kill' }
        await start(files).catch(() => {})
        const left = files.survivors(survival)
        const ran = launch(left)
        expect(ran).toEqual(['whole 2'])
      }
  })

  it('is given up also when the launcher could not write that', async () => {
    const files = await installed()
    await tryNext(files, '', SECOND)
    // The launcher started the installed version although there is a trial: the disk refused its writes.
    const versions = await openVersions({ root: '/', slot: '' }, files)
    expect([versions.isOnTrial(), versions.failed]).toEqual([false, { ...SECOND, why: undefined }])
    expect(launch(files)).toEqual(['whole 1'])
  })

  it('is reported as unknown when its directory is damaged', async () => {
    const files = await installed()
    await files.mkdir('/updates/a')
    await files.writeTree('/updates/a', { 'version.json': '{"version":' })
    await files.symlink('a', '/updates/failed')
    await files.symlink(` crashed\u001b[31m\n${'x'.repeat(500)}`, '/updates/why')
    const { failed } = await openVersions({ root: '/', slot: '' }, files)
    expect(failed).toMatchObject({
      version: 'unknown',
      number: 0,
      why: expect.stringMatching(/^crashed \[31m x{280,}$/),
    })
    expect(failed!.why!.length).toBeLessThanOrEqual(300)
  })
})

it('an update that lost its program leaves the installed version, and the next one is tried as any other', async () => {
  const files = await installed(SECOND)
  await files.rm('/updates/a/bin/hedgerow-gateway')
  expect(launch(files)).toEqual(['whole 1'])
  await tryNext(files, '', THIRD)
  await expect(files.readlink('/updates/current')).rejects.toThrow('ENOENT')
  expect(launch(files)).toEqual(['whole 3'])
})

it('refuses an archive of another version than its list names', async () => {
  const files = await installed()
  const versions = await openVersions({ root: '/', slot: '' }, files)
  const other = (directory: string) => files.writeTree(directory, treeOf(SECOND))
  await expect(versions.tryNext(other, THIRD)).rejects.toThrow('does not hold the version')
  expect(launch(files)).toEqual(['whole 1'])
})

it('a version on trial tries no other one', async () => {
  const files = await installed()
  await tryNext(files, '', SECOND)
  await expect(tryNext(files, 'a', THIRD)).rejects.toThrow('on trial')
})
