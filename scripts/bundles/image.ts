/**
 * A built product as a container image: the bundle, the C and C++ libraries that Node links to, out of Debian's
 * packages, and nothing else. deploy/images has the Containerfiles. Needs mmdebstrap and podman, and no registry.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeTar } from './archive.ts'
import { debianArchitecture, describeForm, type Built } from './build.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)

const DEBIAN = 'bookworm'
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1']
/** The parts of these packages that Node reads, and their licences. */
const INCLUDED = ['./lib*', './usr/lib', './usr/share/doc']
const LEFT_OUT = ['./usr/lib/*/gconv', './usr/lib/*/audit']

/**
 * Returns the image's file name; `podman load` and `docker load` read it as `localhost/NAME:VERSION`. The same sources
 * give the same bytes.
 */
export async function writeImage(built: Built, { into, time }: { into: string; time: number }): Promise<string> {
  const image = await buildImage(built, time)
  const file = `${built.title}.image.tar`
  const [saved, plain] = [`${built.folder}.saved`, `${built.folder}.plain`]
  await mkdir(saved)
  await mkdir(plain)
  await run('podman', ['save', '--quiet', '--format=docker-archive', `--output=${saved}.tar`, image])
  await run('podman', ['image', 'rm', image])
  await run('tar', ['-xf', `${saved}.tar`, '-C', saved])
  await keepReproducible(saved, plain)
  await writeTar(join(into, file), { folder: plain, name: '.', time })
  for (const path of [`${saved}.tar`, saved, plain]) await rm(path, { recursive: true })
  return file
}

type Manifest = { Config: string; RepoTags: string[]; Layers: string[] }
type Configuration = {
  config: { Hostname?: string }
  history: { comment?: string }[]
  container?: unknown
  container_config?: unknown
  parent?: unknown
}

/** Moves the layers and the configuration, without the random names of the containers that built them. */
async function keepReproducible(saved: string, plain: string): Promise<void> {
  const [manifest] = JSON.parse(await readFile(join(saved, 'manifest.json'), 'utf8')) as [Manifest]
  const image = JSON.parse(await readFile(join(saved, manifest.Config), 'utf8')) as Configuration
  for (const name of ['container', 'container_config', 'parent'] as const) delete image[name]
  delete image.config.Hostname
  for (const step of image.history) delete step.comment
  const text = JSON.stringify(image)
  const configuration = `${createHash('sha256').update(text).digest('hex')}.json`
  await writeFile(join(plain, configuration), text)
  await writeFile(join(plain, 'manifest.json'), JSON.stringify([{ ...manifest, Config: configuration }]))
  for (const layer of manifest.Layers) await rename(join(saved, layer), join(plain, layer))
}

/** Leaves the image in podman's own store and returns its name. `time` of every file is in seconds since 1970. */
export async function buildImage({ product, platform, version, folder }: Built, time: number): Promise<string> {
  const context = `${folder}.image`
  const root = join(context, 'root')
  const processor = debianArchitecture(platform)!
  await rm(context, { recursive: true, force: true })
  for (const path of ['root/etc', 'root/usr/bin', 'root/opt', 'data'])
    await mkdir(join(context, path), { recursive: true })
  await writeLibraries(root, processor)
  // Links are safe, because nothing writes into the linked files.
  await run('cp', ['--recursive', '--link', folder, join(root, 'opt/hedgerow')])
  await describeForm(join(root, 'opt/hedgerow'), 'image')
  const program = `/opt/hedgerow/lib/${product.main.replace(/\.ts$/, '.js')}`
  // Linux passes all that follows the interpreter as one argument (execve(2)).
  const [first, ...further] = product.nodeOptions
  const launcher = `#!/opt/hedgerow/bin/node ${first}
import { setFlagsFromString } from 'node:v8'
${further.map((option) => `setFlagsFromString('${option}')\n`).join('')}await import('${program}')
`
  await writeFile(join(root, 'usr/bin', product.name), launcher, { mode: 0o755 })
  await writeFile(join(root, 'etc/passwd'), 'hedgerow:x:10001:10001:Hedgerow:/data:/usr/sbin/nologin\n')
  await writeFile(join(root, 'etc/group'), 'hedgerow:x:10001:\n')

  const name = `localhost/${product.name}:${version}`
  const containerfile = join(ROOT, 'deploy/images', `${product.name.replace('hedgerow-', '')}.Containerfile`)
  // The Docker format has health checks; the OCI format has none.
  const options = ['--format=docker', `--platform=linux/${processor}`, `--timestamp=${time}`, `--tag=${name}`]
  await run('podman', ['build', '--quiet', ...options, `--file=${containerfile}`, context])
  await rm(context, { recursive: true })
  return name
}

async function writeLibraries(root: string, processor: string): Promise<void> {
  const paths = [...LEFT_OUT.map((path) => `--exclude=${path}`), '--wildcards', ...INCLUDED]
  const packages = await librariesFor(processor)
  const unpacking = run('tar', ['-x', '-C', root, '--no-same-owner', ...paths])
  unpacking.child.stdin!.end(packages)
  await unpacking
}

const libraries = new Map<string, Promise<Buffer>>()

/** The unpacked packages as a tar, fetched once for all images of a process. */
function librariesFor(processor: string): Promise<Buffer> {
  const library = libraries.get(processor)
  if (library) return library
  const fetched = fetchLibraries(processor)
  libraries.set(processor, fetched)
  fetched.catch(() => libraries.delete(processor))
  return fetched
}

async function fetchLibraries(processor: string): Promise<Buffer> {
  const options = ['--variant=extract', '--quiet', `--architectures=${processor}`, `--include=${LIBRARIES.join(',')}`]
  const { stdout } = await run('mmdebstrap', [...options, '--aptopt=Acquire::Retries "3"', DEBIAN, '-'], {
    encoding: 'buffer',
    maxBuffer: 256e6,
  })
  return stdout
}
