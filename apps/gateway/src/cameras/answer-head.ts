/**
 * The head of a camera's answer, read as leniently as browsers and FFmpeg do: lines that end with LF, lines that are no
 * field, `ICY 200 OK`, no reason, or no head at all. For cameras only: elsewhere such answers are an attack.
 */
import { CameraError } from './camera-error.ts'

export type AnswerHead = {
  status: number
  /** The values of a field, in their order; empty when there is none. */
  all(name: string): string[]
}

export const HEAD_BYTES_MAX = 16 * 1024
const STATUS = /^(?:HTTP\/\d{1,2}(?:\.\d{1,2})?|ICY)\s{1,10}(\d{3})(?!\d)/i
const NO_HTTP = 'its answer is not HTTP'
/** A picture or a boundary without any head. */
const BARE = /^(?:\xff\xd8\xff|--)/
const END = /\n\r?\n|\r\r/
/** The head ends where a picture begins, whatever the camera left out. */
const PICTURE = '\xff\xd8\xff'

/**
 * `bytes`: what has come so far. Undefined while the head is not whole; `length` is the number of its bytes. Throws
 * CameraError.
 */
export function readHead(bytes: Buffer): { head: AnswerHead; length: number } | undefined {
  const text = bytes.toString('latin1', 0, HEAD_BYTES_MAX)
  const skipped = /^\s*/.exec(text)![0].length
  const rest = text.slice(skipped)
  if (BARE.test(rest)) return { head: headOf('HTTP/1.0 200', []), length: skipped }
  const end = END.exec(rest)
  const picture = rest.indexOf(PICTURE)
  const isEnded = end !== null && (picture < 0 || end.index < picture)
  if (!isEnded && picture < 0) {
    if (bytes.length >= HEAD_BYTES_MAX || (rest.length > 64 && !STATUS.test(rest))) throw new CameraError(NO_HTTP)
    return undefined
  }
  const to = isEnded ? end.index : picture
  const [first = '', ...lines] = rest.slice(0, to).split(/\r?\n|\r/)
  const length = skipped + (isEnded ? to + end[0].length : to)
  return { head: headOf(first, lines), length }
}

function headOf(first: string, lines: readonly string[]): AnswerHead {
  const status = STATUS.exec(first)?.[1]
  if (status === undefined) throw new CameraError(NO_HTTP)
  const fields: { name: string; value: string }[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const last = fields.at(-1)
    // A continued line, which RFC 9112 section 5.2 no longer allows.
    if (/^[ \t]/.test(line) && last) last.value += ` ${line.trim()}`
    else if (colon > 0)
      fields.push({ name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() })
  }
  return { status: Number(status), all: (name) => fields.filter((one) => one.name === name).map(({ value }) => value) }
}
