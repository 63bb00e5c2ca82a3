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
import { namedRelease, type ReleaseFile } from '@hedgerow/releases'
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

export function openDownloads({ folder, way, log }: Pick<Downloads, 'folder' | 'way'> & { log: Logger }): Downloads {
  let known: { of: number; content: Promise<HandedOut | undefined> } | undefined

  async function read(): Promise<HandedOut | undefined> {
    const release = namedRelease(await readFile(join(folder, 'release.json'), 'utf8'))
    if (!release) {
      log.warn({ folder }, 'release.json is no list of a release: no agent is handed out')
      return undefined
    }
    const files: ReleaseFile[] = []
    for (const file of release.files.filter(({ product }) => product === 'hedgerow-gateway'))
      if (await isWhole(join(folder, file.name), file)) files.push(file)
      else log.warn({ file: file.name }, 'a download is missing or does not have the hash of its release')
    const { version, number } = release
    return files.length > 0 ? { version, number, files, rootKey: await readRootKey() } : undefined
  }

  async function readRootKey(): Promise<string | undefined> {
    const text = await readFile(join(folder, 'root.pub'), 'utf8').catch(() => '')
    return z.base64().length(44).safeParse(text.trim()).data
  }

  async function agent(): Promise<HandedOut | undefined> {
    const changed = await stat(join(folder, 'release.json')).catch(() => undefined)
    if (!changed) return undefined
    if (known?.of !== changed.mtimeMs) known = { of: changed.mtimeMs, content: read() }
    return known.content
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
