/**
 * Reads the head of an HTTP/1.1 request that has nothing special: whole, strict, with at most a body of known length.
 * Every other one is left to node:http, which also knows what to refuse. RFC 9112 §2 to §6.
 */
import { METHODS, type IncomingHttpHeaders } from 'node:http'
import { isFieldText, isToken, trimmed } from '../fields.ts'
import { namesIn, rememberedByName } from '../forwarding.ts'

export type PlainHead = {
  method: string
  url: string
  fields: PlainFields
  /** Where the body begins. */
  end: number
}

/** All of a head but its first line. */
export class PlainFields {
  /** Raw list. */
  readonly raw: readonly string[]
  readonly host: string
  readonly bodyBytes: number
  /** The client wants no other answer on this connection. */
  readonly isLast: boolean
  #byName: IncomingHttpHeaders | undefined

  constructor(raw: readonly string[], host: string, bodyBytes: number, isLast: boolean) {
    this.raw = raw
    this.host = host
    this.bodyBytes = bodyBytes
    this.isLast = isLast
  }

  get byName(): IncomingHttpHeaders {
    return (this.#byName ??= headersByName(this.raw))
  }
}

/** Node's limit. */
const MAX_HEAD_BYTES = 16 * 1024
const MAX_FIELDS = 100
const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /^\d{1,15}$/
const TARGET = /^\/[\x21-\x7e]*$/
const VERSION = ' HTTP/1.1'
const PLAIN_METHODS = new Set(METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE'))

type Kind = 'any' | 'host' | 'length' | 'connection' | 'not plain'
const KINDS: Record<string, Kind> = {
  host: 'host',
  'content-length': 'length',
  connection: 'connection',
  expect: 'not plain',
  'transfer-encoding': 'not plain',
  upgrade: 'not plain',
}
const kindOf = rememberedByName((name): Kind => (isToken(name) ? (KINDS[name.toLowerCase()] ?? 'any') : 'not plain'))

/** The head at the beginning of `bytes`; undefined when it is not plain, or not whole. */
export function readPlainHead(bytes: Buffer): PlainHead | undefined {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0 || end > MAX_HEAD_BYTES) return undefined
  const text = bytes.toString('latin1', 0, end)
  const lineEnd = text.indexOf('\r\n')
  if (lineEnd < 0 || !text.startsWith(VERSION, lineEnd - VERSION.length)) return undefined
  const space = text.indexOf(' ')
  const method = text.slice(0, space)
  const url = text.slice(space + 1, lineEnd - VERSION.length)
  if (!PLAIN_METHODS.has(method) || !TARGET.test(url)) return undefined

  const fields = readFields(text, lineEnd + 2)
  return fields && { method, url, fields, end: end + HEAD_END.length }
}

function readFields(text: string, from: number): PlainFields | undefined {
  const raw: string[] = []
  let host: string | undefined
  let length: string | undefined
  let isLast = false
  for (let start = from; start < text.length;) {
    const found = text.indexOf('\r\n', start)
    const next = found < 0 ? text.length : found
    const colon = text.indexOf(':', start)
    if (colon < 0 || colon >= next || raw.length >= 2 * MAX_FIELDS) return undefined
    const name = text.slice(start, colon)
    const value = trimmed(text, colon + 1, next)
    if (!isFieldText(value)) return undefined
    switch (kindOf(name)) {
      case 'not plain':
        return undefined
      case 'host':
        if (host !== undefined) return undefined
        host = value
        break
      case 'length':
        if (length !== undefined || !LENGTH.test(value)) return undefined
        length = value
        break
      case 'connection': {
        const option = value.toLowerCase()
        if (option === 'close') isLast = true
        else if (option !== 'keep-alive') return undefined
        break
      }
      case 'any':
    }
    raw.push(name, value)
    start = next + 2
  }
  if (host === undefined) return undefined
  return new PlainFields(raw, host, Number(length ?? 0), isLast)
}

/** Of these, Node uses the first when a client sends several. */
const ONCE = new Set(
  namesIn(`
  age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since
  last-modified location max-forwards proxy-authorization referer retry-after server user-agent
`),
)
const lowerCase = rememberedByName((name) => name.toLowerCase())

/** A raw header list by name, as `IncomingMessage.headers`. */
function headersByName(raw: readonly string[]): IncomingHttpHeaders {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = lowerCase(raw[i]!)
    const value = raw[i + 1]!
    const earlier = headers[name]
    if (name === 'set-cookie') headers[name] = [...(earlier ?? []), value]
    else if (earlier === undefined) headers[name] = value
    else if (!ONCE.has(name)) headers[name] = `${String(earlier)}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return headers
}
