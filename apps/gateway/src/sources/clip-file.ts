import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Clip } from './source.ts'

/**
 * Opens an MP4 file as an answer: the requested `range` (RFC 9110 §14.2), or the whole file when there is no range,
 * when there are several, or when the range is outside of the file. Rejects with the disk's error.
 */
export async function openClipFile(path: string, range: string | undefined): Promise<Clip> {
  const { size } = await stat(path)
  const part = readRange(range, size)
  const { first, last } = part ?? { first: 0, last: size - 1 }
  const body = createReadStream(path, size === 0 ? {} : { start: first, end: last })
  const length = size === 0 ? 0 : last - first + 1
  return {
    status: part ? 206 : 200,
    headers: {
      'content-type': 'video/mp4',
      'accept-ranges': 'bytes',
      'content-length': String(length),
      ...(part && { 'content-range': `bytes ${first}-${last}/${size}` }),
    },
    body,
  }
}

/**
 * Reads one range of bytes (RFC 9110 §14.1.2); `last` is included. Undefined when there is no range, when there are
 * several, or when the range is outside of the file.
 */
export function readRange(text: string | undefined, size: number): { first: number; last: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text ?? '') ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to))
  return first <= last && first < size ? { first, last } : undefined
}
