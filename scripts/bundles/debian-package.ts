/**
 * A built product as a Debian package, with dpkg-deb and nothing of debhelper. deploy/debian has what is not built: the
 * service, settings, the command, maintainer scripts, the manual page.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { ArchiveOptions } from './archive.ts'
import { debianArchitecture, describeForm, type Built } from './build.ts'

const SOURCES = join(import.meta.dirname, '../../deploy/debian')
/** Scripts that install.sh has too. */
const SCRIPTS_OF_INSTALLATION = join(import.meta.dirname, '../../apps/hub/src/downloads')
const MAINTAINER = 'Hedgerow <packages@hedgerow.example.net>'
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm']
const run = promisify(execFile)

/** Returns the package's name. The same sources give the same bytes. */
export async function writeDebianPackage(built: Built, { time, compression, into }: ArchiveOptions): Promise<string> {
  const { name } = built.product
  const architecture = debianArchitecture(built.platform)!
  // A tilde sorts before the release that it precedes (deb-version(7)).
  const version = built.version.replace('-', '~')
  const root = `${built.folder}.deb`
  const program = join(root, 'usr/lib', name)
  await rm(root, { recursive: true, force: true })
  await mkdir(dirname(program), { recursive: true })
  await run('cp', ['--recursive', '--link', built.folder, program])
  await describeForm(program, 'package')
  await writeDocuments(root, { name, version, time, program })
  if (built.product.updatesItself) await place(root, join(SOURCES, name, 'update'), `usr/lib/${name}/update`, 0o755)
  // The package's own script copies it where there is none: about a file of dpkg's, dpkg would ask people questions.
  const settings = `${name.replace('hedgerow-', '')}.env`
  await place(root, join(SOURCES, name, settings), `usr/lib/${name}/${settings}`)
  await place(root, join(SCRIPTS_OF_INSTALLATION, 'as-user.sh'), `usr/lib/${name}/as-user`, 0o755)
  await place(root, join(SOURCES, name, 'command'), `usr/sbin/${name}`, 0o755)
  await place(root, join(SOURCES, name, `${name}.service`), `lib/systemd/system/${name}.service`)
  await place(root, join(SOURCES, name, 'lintian-overrides'), `usr/share/lintian/overrides/${name}`)
  await writeControl(root, { name, version, architecture })

  const file = `${name}_${version}_${architecture}.deb`
  const packing = compression === 'small' ? ['-Zxz', '-z9', '--threads-max=1'] : ['-Znone']
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(time) }
  await run('chmod', ['-R', 'u+rwX,go+rX,go-w', join(root, 'usr'), join(root, 'lib')])
  await run('dpkg-deb', ['--root-owner-group', ...packing, '--build', root, join(into, file)], { env })
  await rm(root, { recursive: true })
  return file
}

/** The files that Debian's policy wants in /usr/share/doc (12.5, 12.7), and the manual page (12.1). */
async function writeDocuments(
  root: string,
  { name, version, time, program }: { name: string; version: string; time: number; program: string },
): Promise<void> {
  const documents = join(root, 'usr/share/doc', name)
  await mkdir(documents, { recursive: true })
  const own = await readFile(join(program, 'LICENSE'), 'utf8')
  const others = 'The licences of the packages in it are in THIRD-PARTY.txt.gz beside this file.'
  await writeFile(join(documents, 'copyright'), `${own}\n${others}\n`)
  await writeFile(join(documents, 'THIRD-PARTY.txt.gz'), gzip(await readFile(join(program, 'THIRD-PARTY.txt'))))
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000')
  const signed = ` -- ${MAINTAINER}  ${date}\n`
  const change = `${name} (${version}) stable; urgency=medium\n\n  * Release ${version}.\n\n${signed}`
  await writeFile(join(documents, 'changelog.gz'), gzip(Buffer.from(change)))
  // Left out, because apt and the command switch versions.
  for (const file of ['LICENSE', 'THIRD-PARTY.txt', 'scripts'])
    await rm(join(program, file), { recursive: true, force: true })
  const manual = await readFile(join(SOURCES, name, `${name}.8`))
  await mkdir(join(root, 'usr/share/man/man8'), { recursive: true })
  await writeFile(join(root, `usr/share/man/man8/${name}.8.gz`), gzip(manual))
}

async function writeControl(
  root: string,
  { name, version, architecture }: Record<'name' | 'version' | 'architecture', string>,
): Promise<void> {
  const { files, bytes } = await contentOf(root)
  const control = join(root, 'DEBIAN')
  await mkdir(control)
  const fields = {
    Package: name,
    Version: version,
    Architecture: architecture,
    Maintainer: MAINTAINER,
    'Installed-Size': Math.ceil(bytes / 1024),
    Section: 'net',
    Priority: 'optional',
  }
  const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`)
  await writeFile(join(control, 'control'), lines.join('') + (await readFile(join(SOURCES, name, 'control'), 'utf8')))
  const sums = await Promise.all(
    files.map(
      async (file) =>
        `${createHash('md5')
          .update(await readFile(join(root, file)))
          .digest('hex')}  ${file}\n`,
    ),
  )
  await writeFile(join(control, 'md5sums'), sums.join(''))
  const settingsFolder = await readFile(join(SCRIPTS_OF_INSTALLATION, 'settings-folder.sh'), 'utf8')
  for (const script of SCRIPTS) {
    const [own, shared] = await Promise.all(
      [join(SOURCES, name, script), join(SOURCES, 'shared', script)].map((path) =>
        readFile(path, 'utf8').catch(() => ''),
      ),
    )
    if (own || shared) {
      const text = [own!.trimEnd(), shared!.replaceAll('@NAME@', name).trimEnd()]
        .filter(Boolean)
        .join('\n\n')
        .replace('@settings-folder.sh@', () => settingsFolder.trimEnd())
      await writeFile(join(control, script), `${text}\n`, { mode: 0o755 })
    }
  }
}

/** The paths of all files below `root`, sorted, and their total size. */
async function contentOf(root: string): Promise<{ files: string[]; bytes: number }> {
  const found = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  return {
    files: paths.map((path) => path.slice(root.length + 1)).toSorted(),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  }
}

async function place(root: string, source: string, target: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(join(root, target)), { recursive: true })
  await writeFile(join(root, target), await readFile(source), { mode })
}

/** The header has no name and no time. */
const gzip = (text: Buffer): Buffer => gzipSync(text, { level: 9 })
