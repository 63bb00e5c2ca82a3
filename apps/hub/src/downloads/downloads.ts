/**
 * The release that this hub hands out to devices: a folder that `npm run release` made. A file counts only when it has
 * the size and the hash that the release names.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isDeepStrictEqual } from 'node:util'
import { namedRelease, type Release, type ReleaseFile } from '@hedgerow/releases'
import type { Logger } from 'pino'
import { z } from 'zod'
import { installCommand, type HandedOut, type HubAddress } from './install-script.ts'

export type Downloads = {
  readonly folder: string
  /** How the device that asks reaches this hub. Throws `invalid_request` for an invalid `Host`. */
  addressFor(headers: IncomingHttpHeaders): HubAddress
  /** What a person pastes on a device to install the agent; undefined when there is no release. */
  command(headers: IncomingHttpHeaders, code: string): Promise<string | undefined>
  /** The agent's files that are whole; undefined when there is no release. */
  agent(): Promise<HandedOut | undefined>
  /** Every file that is handed out. */
  names(): Promise<readonly string[]>
}

const LIST = 'release.json'
const KEYS = 'keys.json'
/** Names what older agents do not know, such as detection models and their runtime. */
const SUMS = 'SHA256SUMS'
const MODEL_FILE = /^([0-9a-f]{64}) {2}(hedgerow-model-[\w.-]{1,100})$/gm
const ROOT_KEY = 'root.pub'

/** What is handed out, and the sizes and times of the files that it was read from. */
type Offer = {
  agent: HandedOut | undefined
  models: readonly string[]
  looked: readonly string[]
  state: readonly string[]
}

export function openDownloads({
  folder,
  addressFor,
  log,
}: Pick<Downloads, 'folder' | 'addressFor'> & { log: Logger }): Downloads {
  let offer: Offer | undefined
  let reading: Promise<Offer> | undefined

  async function stateOf(names: readonly string[]): Promise<string[]> {
    const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)))
    return found.map((file) => (file ? `${file.size}@${file.mtimeMs}` : ''))
  }

  async function readList(): Promise<Release | undefined> {
    const text = await readFile(join(folder, LIST), 'utf8').catch(() => undefined)
    const release = text === undefined ? undefined : namedRelease(text)
    if (text !== undefined && !release)
      log.warn({ folder }, 'release.json is no list of a release: no agent is handed out')
    return release
  }

  /** The names and hashes of the models in the folder. */
  async function listModels(): Promise<Pick<ReleaseFile, 'name' | 'sha256'>[]> {
    const text = await readFile(join(folder, SUMS), 'utf8').catch(() => '')
    return [...text.matchAll(MODEL_FILE)].map(([, sha256, name]) => ({ name: name!, sha256: sha256! }))
  }

  /** Takes the state of files before it reads them, so that the next call notices a change in between. */
  async function read(): Promise<Offer> {
    const lists = [LIST, SUMS]
    const stateOfLists = await stateOf(lists)
    const release = await readList()
    const listed = release?.files.filter(({ product }) => product === 'hedgerow-gateway') ?? []
    const listedModels = await listModels()
    const others = [ROOT_KEY, ...[...listed, ...listedModels].map(({ name }) => name)]
    const looked = [...lists, ...others]
    const state = [...stateOfLists, ...(await stateOf(others))]
    const files = await whole(listed)
    const models = (await whole(listedModels)).map(({ name }) => name)
    if (!release || files.length === 0) return { agent: undefined, models, looked, state }
    const { version, number } = release
    return { agent: { version, number, files, rootKey: await readRootKey() }, models, looked, state }
  }

  async function whole<F extends Pick<ReleaseFile, 'name' | 'sha256'>>(listed: readonly F[]): Promise<F[]> {
    const files: F[] = []
    for (const file of listed)
      if (await isWhole(join(folder, file.name), file)) files.push(file)
      else log.warn({ file: file.name }, 'a download is missing or does not have the hash of its release')
    return files
  }

  async function readRootKey(): Promise<string | undefined> {
    const text = await readFile(join(folder, ROOT_KEY), 'utf8').catch(() => '')
    return z.base64().length(44).safeParse(text.trim()).data
  }

  /** All files are looked at: a copy of a release may bring its list before the others. */
  async function current(): Promise<Offer> {
    if (offer && isDeepStrictEqual(await stateOf(offer.looked), offer.state)) return offer
    reading ??= read().finally(() => (reading = undefined))
    return (offer = await reading)
  }

  const agent = async () => (await current()).agent

  return {
    folder,
    addressFor,
    agent,
    async names() {
      const { agent: handedOut, models } = await current()
      return [...(handedOut ? [LIST, KEYS, ...handedOut.files.map(({ name }) => name)] : []), ...models]
    },
    command: async (headers, code) => ((await agent()) ? installCommand(addressFor(headers), code) : undefined),
  }
}

type Listed = Pick<ReleaseFile, 'sha256'> & { size?: number }

async function isWhole(path: string, { size, sha256 }: Listed): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile() || (size !== undefined && found.size !== size)) return false
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex') === sha256
}
