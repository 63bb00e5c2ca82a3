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
import { installCommand, type HandedOut, type Way } from './install-script.ts'

export type Downloads = {
  readonly folder: string
  /** How the device that asks reaches this hub. Throws `invalid_request` for an invalid `Host`. */
  way(headers: IncomingHttpHeaders): Way
  /** What a person pastes on a device to install the agent; undefined when there is no release. */
  command(headers: IncomingHttpHeaders, code: string): Promise<string | undefined>
  /** The agent's files that are whole; undefined when there is no release. */
  agent(): Promise<HandedOut | undefined>
}

const LIST = 'release.json'
const ROOT_KEY = 'root.pub'

/** What is handed out, and the sizes and times of the files that it was read from. */
type Known = { agent: HandedOut | undefined; names: readonly string[]; state: readonly string[] }

export function openDownloads({ folder, way, log }: Pick<Downloads, 'folder' | 'way'> & { log: Logger }): Downloads {
  let known: Known | undefined
  let reading: Promise<Known> | undefined

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

  /** Takes the state of files before it reads them, so that the next call notices a change in between. */
  async function read(): Promise<Known> {
    const stateOfList = await stateOf([LIST])
    const release = await readList()
    const listed = release?.files.filter(({ product }) => product === 'hedgerow-gateway') ?? []
    const others = [ROOT_KEY, ...listed.map(({ name }) => name)]
    const names = [LIST, ...others]
    const state = [...stateOfList, ...(await stateOf(others))]
    const files: ReleaseFile[] = []
    for (const file of listed)
      if (await isWhole(join(folder, file.name), file)) files.push(file)
      else log.warn({ file: file.name }, 'a download is missing or does not have the hash of its release')
    if (!release || files.length === 0) return { agent: undefined, names, state }
    const { version, number } = release
    return { agent: { version, number, files, rootKey: await readRootKey() }, names, state }
  }

  async function readRootKey(): Promise<string | undefined> {
    const text = await readFile(join(folder, ROOT_KEY), 'utf8').catch(() => '')
    return z.base64().length(44).safeParse(text.trim()).data
  }

  /** All files are looked at: a copy of a release may bring its list before the others. */
  async function agent(): Promise<HandedOut | undefined> {
    if (known && isDeepStrictEqual(await stateOf(known.names), known.state)) return known.agent
    reading ??= read().finally(() => (reading = undefined))
    known = await reading
    return known.agent
  }

  return {
    folder,
    way,
    agent,
    command: async (headers, code) => ((await agent()) ? installCommand(way(headers), code) : undefined),
  }
}

async function isWhole(path: string, { size, sha256 }: ReleaseFile): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found?.size !== size) return false
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex') === sha256
}
