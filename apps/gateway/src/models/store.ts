/**
 * The models of a device, in its data directory: `models/NAME.json` is the manifest, `models/SHA256.onnx` its bytes. A
 * manifest that is replaced takes effect with its bytes, in one rename.
 */
import { createHash } from 'node:crypto'
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { isMissing } from '../kernel/durable-file.ts'
import { labelsOf } from './labels.ts'
import { modelManifest, type ModelManifest } from './manifest.ts'
import { ModelError } from './model-error.ts'
import { modelName } from './schema.ts'

/** Larger files are no models for a gateway. */
export const MODEL_MAX_BYTES = 512 * 1024 * 1024

export const modelsFolder = (dataDir: string) => join(dataDir, 'models')
export const manifestPath = (folder: string, name: string) => join(folder, `${name}.json`)
export const bytesPath = (folder: string, { sha256 }: Pick<ModelManifest, 'sha256'>) => join(folder, `${sha256}.onnx`)

/** Throws ModelError when there is no such model, or its manifest is damaged. */
export async function readManifest(folder: string, name: string): Promise<ModelManifest> {
  const unknown = `There is no model ${name} on this device. Add it with: hedgerow-gateway model add`
  if (!modelName.safeParse(name).success) throw new ModelError('model_unknown', unknown)
  let text: string
  try {
    text = await readFile(manifestPath(folder, name), 'utf8')
  } catch (error) {
    if (isMissing(error)) throw new ModelError('model_unknown', unknown)
    throw error
  }
  return parseJsonAs(modelManifest, text, `The manifest of the model ${name}`)
}

/** `what` begins the sentence of the error. */
export function parseJsonAs<S extends z.ZodType>(schema: S, text: string, what: string): z.output<S> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new ModelError('model_manifest_invalid', `${what} is not JSON.`)
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const place = issue!.path.join('.') || 'the whole'
  throw new ModelError('model_manifest_invalid', `${what} is not valid: ${place}: ${issue!.message}`)
}

/** The names of the stored models, sorted. */
export async function listModels(folder: string): Promise<string[]> {
  try {
    const files = await readdir(folder)
    return files.flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : [])).toSorted()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** The labels of the stored models, by name; a model with a damaged manifest has none. */
export async function readModelLabels(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const read = async (name: string) => {
    const { labels } = await readManifest(folder, name)
    return labelsOf(labels).filter((label) => label !== null)
  }
  const names = await listModels(folder)
  const labels = await Promise.all(names.map((name) => read(name).catch(() => [])))
  return new Map(names.map((name, index) => [name, labels[index]!]))
}

/** The model's bytes, whose hash must be that of the manifest. Throws ModelError. */
export async function readBytes(folder: string, manifest: ModelManifest): Promise<Buffer<ArrayBuffer>> {
  const { name } = manifest
  const bytes = await readAtMost(bytesPath(folder, manifest), name)
  if (createHash('sha256').update(bytes).digest('hex') !== manifest.sha256)
    throw new ModelError('model_hash_mismatch', `The file of the model ${name} is not what its SHA-256 says.`)
  return bytes
}

async function readAtMost(path: string, name: string): Promise<Buffer<ArrayBuffer>> {
  let file
  try {
    file = await open(path, 'r')
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new ModelError('model_file_missing', `The file of the model ${name} is missing. Add the model again.`)
  }
  try {
    const { size } = await file.stat()
    if (size > MODEL_MAX_BYTES)
      throw new ModelError('model_unreadable', `The file of the model ${name} is larger than any model.`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
