import { findAgent } from '../agent-file.ts'
import { callAddress } from '@hedgerow/contract'
import { LOCAL_API_BASE, localCalls } from '@hedgerow/contract/local-api'
import { inWords, ModelError } from '../models/model-error.ts'
import { addModel, type AddOptions, type Open } from '../models/add.ts'
import { KNOWN_MODELS } from '../models/known-models.ts'
import { listModels, modelsFolder, readBytes, readManifest } from '../models/store.ts'
import type { Outcome } from './command-line.ts'

/** Fetches a model, checks it, and stores it with the device's other models. */
export async function addModelToDevice(
  options: Omit<AddOptions, 'folder' | 'fromHub'> & { dataDir: string },
): Promise<Outcome> {
  const { dataDir } = options
  const fromHub = (name: string) => openFromHub(dataDir, name)
  try {
    const { name, sha256 } = await addModel({ ...options, folder: modelsFolder(dataDir), fromHub })
    const next = `In gateway.yaml: sources: { eye: { cameras: […], model: ${name} } }`
    return { text: `${name} is added, SHA-256 ${sha256}.\n${next}`, isDone: true }
  } catch (error) {
    if (error instanceof ModelError) return { text: inWords(error), isDone: false }
    throw error
  }
}

/** Through the agent that runs; undefined when no agent runs, or its hub does not hand the model out. */
async function openFromHub(dataDir: string, name: string): Promise<Open | undefined> {
  const agent = await findAgent(dataDir)
  if (!agent) return undefined
  const url = callAddress(agent.url + LOCAL_API_BASE, localCalls.readModel, { name })
  const silence = new AbortController()
  const options = { headers: { authorization: `Bearer ${agent.token}` }, signal: silence.signal }
  const answer = await fetch(url, options).catch(() => undefined)
  const body = answer?.ok ? answer.body : undefined
  if (!body) return undefined
  return (signal) => {
    signal.addEventListener('abort', () => silence.abort())
    return body
  }
}

/** The models of the device, and those that it can add by name. */
export async function listDeviceModels(dataDir: string): Promise<Outcome> {
  const folder = modelsFolder(dataDir)
  const lines: string[] = []
  let isDone = true
  const names = await listModels(folder)
  for (const name of names) {
    try {
      const manifest = await readManifest(folder, name)
      const { length } = await readBytes(folder, manifest)
      const { layout, size, licence, sha256 } = manifest
      const megabytes = (length / 1e6).toFixed(1)
      lines.push(
        `  ${name}: ${layout}, ${size.width} x ${size.height}, ${licence.name}, ${megabytes} MB, SHA-256 ${sha256}`,
      )
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      isDone = false
      lines.push(`  ${name}: ${inWords(error)}`)
    }
  }
  const available = KNOWN_MODELS.filter(({ name }) => !names.includes(name))
  const own = lines.length === 0 ? ['This device has no models.'] : ['On this device:', ...lines]
  const others = available.map(({ name, size, licence, package: packed, url, page, tried }) => {
    const source = packed ? `${packed.megabytes} MB by npm` : url ? 'its file has an address' : 'export it: --from FILE'
    return `  ${name}: ${size.width} x ${size.height}, ${licence.name}, ${source}${tried ? '' : ', not tried'}, ${page}`
  })
  return {
    text: [...own, '', 'Known by name (hedgerow-gateway model add NAME):', ...others].join('\n'),
    isDone,
  }
}
