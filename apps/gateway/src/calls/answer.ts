import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Clip } from '../sources/source.ts'

const COMMON = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...COMMON,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

/** Rejects when reading the file fails; the answer is cut off then. */
export async function sendFile(response: ServerResponse, { status, headers, body }: Clip): Promise<void> {
  if (response.destroyed) return void body.destroy()
  response.writeHead(status, { ...headers, ...COMMON })
  await pipeline(body, response)
}
