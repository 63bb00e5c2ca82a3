/**
 * Which version of the gateway starts: the files beside the launcher (`launch.sh`). `updates/a` and `updates/b` hold a
 * version each; the links `current`, `trial`, `proving`, `before` and `failed` name one of them. Each step of an update
 * is one rename or removal of a link after everything that it needs is on disk, so a power cut at any point leaves one
 * version that works: docs/operations/updates.md has the states.
 */
import nodeFiles from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isMissing, readJsonFile, syncPath } from '../kernel/durable-file.ts'

/** The part of `node:fs/promises` that the state machine needs; tests pass one that fails or loses power. */
export type UpdateFiles = Pick<
  typeof nodeFiles,
  'open' | 'rename' | 'rm' | 'mkdir' | 'symlink' | 'readlink' | 'readdir' | 'readFile' | 'lstat'
>

/** A directory of `updates`. */
export type Slot = 'a' | 'b'

/** Written by `npm run release` into each archive. */
export const versionFile = z.object({ version: z.string().max(50), number: z.int().min(0) })
export type VersionOnDisk = z.output<typeof versionFile>

/** A version that was given up. `why`, if the launcher or the version itself said it: `ended 3 times …`. */
export type GivenUp = VersionOnDisk & { why: string | undefined }

type Link = 'current' | 'trial' | 'proving' | 'before' | 'failed' | 'why'

export type Versions = {
  /** The version that runs. */
  readonly running: VersionOnDisk
  /** True until `confirm`. */
  isOnTrial(): boolean
  /** True from `accept` until `confirm`. */
  isProving(): boolean
  /** The version that was given up before this start, if any; reported until `clearFailure`. */
  readonly failed: GivenUp | undefined
  clearFailure(): Promise<void>
  /**
   * Has `unpack` fill the free directory, and makes it the version that starts next, on trial. The caller then ends
   * this process. Throws the disk's error, or that of `unpack`; then nothing has changed.
   */
  tryNext(unpack: (directory: string) => Promise<void>, expected: VersionOnDisk): Promise<void>
  /** The hub answered this version on trial: it starts from now on, and goes on proving itself. */
  accept(): Promise<void>
  /** The trial is over: this version stays. */
  confirm(): Promise<void>
  /** The version that `giveUp` returns to; undefined when there is none. */
  before(): Promise<VersionOnDisk | undefined>
  /** Makes the version before start next. The caller then ends this process. */
  giveUp(why: string): Promise<void>
}

/** Of a version that a person left by `hedgerow-gateway back`. */
export const LEFT = 'was left by a person'
/** Whether it had been confirmed, so that only a person can ask for it again: the launcher says that it `crashed`. */
export const isBackFromConfirmed = ({ why }: GivenUp): boolean => why === LEFT || (why?.startsWith('crashed') ?? false)

const WHY_MAX = 300
/** The installed version, as `before` names it. */
const INSTALLED = 'installed'

/**
 * `root` is the directory of the launcher, `slot` the one that it started; empty for the installed version. Throws the
 * disk's error, or DataFileError for a version without a readable description.
 */
export async function openVersions(
  { root, slot }: { root: string; slot: Slot | '' },
  files: UpdateFiles = nodeFiles,
): Promise<Versions> {
  const updates = join(root, 'updates')
  const at = (name: string) => join(updates, name)
  const running = await readVersion(slot === '' ? join(root, 'current') : at(slot))
  if (!running) throw new Error(`there is no version.json in ${slot === '' ? join(root, 'current') : at(slot)}`)

  async function read(link: Link): Promise<string | undefined> {
    try {
      return await files.readlink(at(link))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async function target(link: Link): Promise<Slot | undefined> {
    const named = await read(link)
    return named === 'a' || named === 'b' ? named : undefined
  }

  /** A link is there whole or not at all, and never missing while it is replaced. */
  async function point(link: Link, to: string): Promise<void> {
    await files.rm(at(`.${link}`), { force: true })
    await files.symlink(to, at(`.${link}`))
    await files.rename(at(`.${link}`), at(link))
    await syncPath(updates, files)
  }

  async function remove(name: string): Promise<void> {
    await files.rm(at(name), { recursive: true, force: true })
    await syncPath(updates, files)
  }

  async function readVersion(directory: string): Promise<VersionOnDisk | undefined> {
    return readJsonFile(join(directory, 'version.json'), versionFile, files)
  }

  /** The description of a version that was given up; its directory may be damaged. */
  async function describe(given: Slot): Promise<GivenUp> {
    const why = (await read('why').catch(() => undefined))?.replaceAll(/\p{C}/gu, ' ').trim().slice(0, WHY_MAX)
    const present = await readVersion(at(given)).catch(() => undefined)
    return { ...(present ?? { version: 'unknown', number: 0 }), why: why === '' ? undefined : why }
  }

  let current = await target('current')
  const trial = await target('trial')
  let onTrial = trial !== undefined && trial === slot && trial !== current
  // The launcher could not write that it gave up this version, or accepting the version was interrupted halfway.
  if (trial !== undefined && !onTrial) {
    if (trial === current) await remove('trial')
    else {
      await files.rename(at('trial'), at('failed'))
      await syncPath(updates, files)
    }
  }
  const proven = await target('proving')
  let proving = proven !== undefined && proven === slot && proven === current
  // Of a version that was given up while it was accepted.
  if (proven !== undefined && proven !== current && !onTrial) await remove('proving')
  const failedSlot = await target('failed')
  // A version that was confirmed at the very end of its time has not failed.
  if (failedSlot !== undefined && (failedSlot === current || failedSlot === slot)) await remove('failed')
  const hasFailed = failedSlot !== undefined && failedSlot !== current && failedSlot !== slot

  return {
    running,
    isOnTrial: () => onTrial || proving,
    isProving: () => proving,
    failed: hasFailed ? await describe(failedSlot) : undefined,
    async clearFailure() {
      await remove('failed')
      await remove('why')
    },
    async tryNext(unpack, expected) {
      const free: Slot = slot === 'a' ? 'b' : 'a'
      if (onTrial || proving || (slot !== '' && current === free)) throw new Error('this version is on trial itself')
      try {
        await remove('failed')
        await remove('why')
        // Its directory is the free one.
        await remove('before')
        // The installed version runs because the update lost its program; its directory is free again.
        if (slot === '') await remove('current')
        current = slot === '' ? undefined : slot
        await remove(free)
        await files.mkdir(at(free), { mode: 0o755 })
        await unpack(at(free))
        const unpacked = await readVersion(at(free))
        if (unpacked?.number !== expected.number || unpacked.version !== expected.version)
          throw new Error('the archive does not hold the version that its list names')
        await syncTree(at(free), files)
        await syncPath(updates, files)
        await point('trial', free)
      } catch (error) {
        // Frees space for the next attempt, which also begins with this step if it fails here. The link is removed
        // first.
        await remove('trial')
          .then(() => files.rm(at(free), { recursive: true, force: true }))
          .catch(() => {})
        throw error
      }
    },
    async accept() {
      if (!onTrial || slot === '') return
      await point('before', current ?? INSTALLED)
      await point('proving', slot)
      await point('current', slot)
      onTrial = false
      proving = true
      current = slot
      await remove('trial')
    },
    async confirm() {
      if (!proving) return
      await remove('proving')
      proving = false
    },
    async before() {
      if (slot === '') return undefined
      const named = onTrial ? (current ?? INSTALLED) : await read('before')
      if (named === slot) return undefined
      if (named === INSTALLED) return readVersion(join(root, 'current'))
      return named === 'a' || named === 'b' ? readVersion(at(named)) : undefined
    },
    async giveUp(why) {
      if (onTrial) {
        await point('why', why)
        await files.rename(at('trial'), at('failed'))
        return syncPath(updates, files)
      }
      const before = await read('before')
      if (slot !== current || (before !== 'a' && before !== 'b' && before !== INSTALLED) || before === slot)
        throw new Error('the version before is not known')
      await point('why', why)
      await point('failed', slot)
      if (before === INSTALLED) await remove('current')
      else await point('current', before)
      await remove('before')
      await remove('proving')
    },
  }
}

async function syncTree(path: string, files: UpdateFiles): Promise<void> {
  for (const entry of await files.readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await syncTree(join(path, entry.name), files)
    else if (entry.isFile()) await syncPath(join(path, entry.name), files)
  await syncPath(path, files)
}
