import { createReadStream, readdirSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative } from 'node:path'
import { pipeline } from 'node:stream'

/** The files of the built interface; empty while it is not built. Only files that existed at the start are served. */
export type UiFiles = {
  /** Whether there is a file with this path, relative to the build's folder. */
  has(path: string): boolean
  send(request: IncomingMessage, response: ServerResponse, path: string): void
}

export const PAGE = 'index.html'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
/** The compressed copies that the build makes of larger files, best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

export function openUiFiles(folder: string): UiFiles {
  const files = new Map(listFiles(folder).map((path) => [relative(folder, path), path]))

  function choose(path: string, accepted: string): { file: string; encoding?: string } {
    for (const [encoding, suffix] of ENCODINGS) {
      const file = files.get(path + suffix)
      if (file !== undefined && accepts(accepted, encoding)) return { file, encoding }
    }
    return { file: files.get(path)! }
  }

  return {
    has: (path) => files.has(path) && TYPES[extname(path)] !== undefined,
    send(request, response, path) {
      const { file, encoding } = choose(path, String(request.headers['accept-encoding'] ?? ''))
      response.writeHead(200, {
        'content-type': TYPES[extname(path)],
        'content-length': statSync(file).size,
        // Names below assets/ hold a hash of the content.
        'cache-control': path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'Accept-Encoding',
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      })
      if (request.method === 'HEAD') response.end()
      else pipeline(createReadStream(file), response, () => {})
    },
  }
}

function accepts(accepted: string, encoding: string): boolean {
  return accepted.split(',').some((part) => {
    const [name = '', quality = ''] = part.split(';', 2)
    return name.trim() === encoding && !/^\s*q=0(?:\.0*)?\s*$/.test(quality)
  })
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}
