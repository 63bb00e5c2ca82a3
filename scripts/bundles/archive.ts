/** A built product as one archive. The same sources give the same bytes. */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Built } from './build.ts'

const run = promisify(execFile)

export type ArchiveOptions = {
  /** Time of every file, in seconds since 1970. */
  time: number
  /** `small` is slow. */
  compression: 'small' | 'none'
  into: string
}

/** Writes a tar of `name`, relative to `folder`. It holds nothing of this machine: no owner, one time, one order. */
export async function writeTar(file: string, { folder, name, time }: { folder: string; name: string; time: number }) {
  const same = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--format=ustar']
  await run('tar', [...same, '--mode=u+rwX,go+rX,go-w', '-cf', file, name], { cwd: folder })
}

/** Replaces a file by `FILE.gz`. */
export const gzip = (file: string) => run('gzip', ['-9', '--no-name', '--force', file])

/** Returns the archive's name. */
export async function writeArchive(
  { title, folder }: Pick<Built, 'title' | 'folder'>,
  options: ArchiveOptions,
): Promise<string> {
  const { compression, time, into } = options
  await writeTar(join(into, `${title}.tar`), { folder: dirname(folder), name: title, time })
  if (compression === 'none') return `${title}.tar`
  // The programs of Windows cannot unpack xz.
  if (title.includes('-win32-')) {
    await gzip(join(into, `${title}.tar`))
    return `${title}.tar.gz`
  }
  // One thread: the bytes must not depend on the number of cores.
  // The filter for machine code makes them smaller; that for arm64 is newer than the xz of some devices.
  const filters = title.includes('-x64') ? ['--x86', '--lzma2=preset=9e'] : ['-9e']
  await run('xz', [...filters, '--threads=1', '--force', join(into, `${title}.tar`)])
  return `${title}.tar.xz`
}
