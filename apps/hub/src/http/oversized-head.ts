/**
 * Answers a request whose head is longer than Node's parser allows. A page on another port of the hub's host can plant
 * cookies that the browser then sends to every port (RFC 6265 §8.5), and a plain 431 would lock a person out until they
 * find the browser's settings. So this answer clears the cookies it received: by header, and the rest by a script.
 */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { errorTable, type ErrorBody } from '@hedgerow/contract'

/** A browser stores 180 cookies of 4 KiB for a host. */
const HEAD_MAX_BYTES = 1024 * 1024
const HEAD_END = '\r\n\r\n'
/** How many heads are read to their end at once; others are answered for the part that has arrived. */
const READERS_MAX = 16
const PATIENCE_MS = 5_000
/** Chromium accepts 256 KiB of headers. */
const CLEARING_MAX_BYTES = 200 * 1024
const NAMES_MAX = 400
const NAME_MAX_LENGTH = 4_096
const PATHS_MAX = 12
/**
 * The paths to clear when the request's own path is lost: the parser has consumed the part before the head became too
 * long.
 */
const HUB_PATHS = ['/', '/api', '/api/v1', '/gateways', '/proxy', '/proxy/gateway']

const answered = new WeakSet<Duplex>()
let readers = 0

/** Handles an oversized head; returns false for any other error. */
export function answerOversizedHead(error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex): boolean {
  if (answered.has(socket)) return true
  if (error.code !== 'HPE_HEADER_OVERFLOW') return false
  answered.add(socket)
  const first = error.rawPacket ?? Buffer.alloc(0)
  const mayRead = readers < READERS_MAX && !first.includes(HEAD_END)
  // One buffer: a list of pieces of one byte would need a hundred times their size.
  const head = mayRead ? Buffer.allocUnsafeSlow(HEAD_MAX_BYTES) : first
  let bytes = mayRead ? first.copy(head) : first.length
  let isAnswered = false
  if (mayRead) readers++

  function answer(): void {
    if (isAnswered) return
    isAnswered = true
    if (mayRead) readers--
    if (socket.writable) socket.end(answerTo(head.toString('latin1', 0, bytes)))
  }
  // Reads the rest of the request: an answer beside unread bytes is lost when the connection resets.
  const deadline = setTimeout(() => {
    answer()
    socket.destroy()
  }, PATIENCE_MS)
  socket.on('error', () => socket.destroy())
  socket.once('end', answer)
  socket.once('close', () => {
    clearTimeout(deadline)
    answer()
  })
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    if (isAnswered) return
    // The end may have begun in the pieces before.
    const from = Math.max(0, bytes - HEAD_END.length + 1)
    bytes += chunk.copy(head, bytes)
    if (bytes === HEAD_MAX_BYTES || head.subarray(from, bytes).includes(HEAD_END)) answer()
  })
  if (!mayRead) answer()
  return true
}

/**
 * Set-Cookie values that make a browser delete the cookies of these names, host-only ones and those of the host's
 * parent domains, on every path above `path`.
 */
export function clearingOf(
  names: readonly string[],
  { path, host }: { path?: string | undefined; host?: string | undefined },
): string[] {
  const paths = path?.startsWith('/') ? pathsAbove(path) : HUB_PATHS
  const domains = ['', ...domainsAbove(host).map((domain) => `; Domain=${domain}`)]
  const lines: string[] = []
  let bytes = 0
  for (const place of paths)
    for (const domain of domains)
      for (const name of names) {
        // Browsers accept prefixed names only with the attributes that the prefix requires.
        const secure = name.startsWith('__') ? '; Secure' : ''
        const line = `${name}=; Path=${place}${domain}${secure}; Max-Age=0`
        bytes += line.length
        if (bytes > CLEARING_MAX_BYTES) return lines
        lines.push(line)
      }
  return lines
}

function answerTo(head: string): Buffer {
  const path = /^[A-Z]+ (\/[^ ?]*)/.exec(head)?.[1]
  const host = /\r\nhost:[ \t]*([^\r\n]*)/i.exec(head)?.[1]
  const isForProgram = /\r\naccept:(?![^\r\n]*text\/html)/i.test(head)
  const { status, message } = errorTable.request_head_too_large
  const body = isForProgram
    ? JSON.stringify({ error: 'request_head_too_large', message } satisfies ErrorBody)
    : page(message)
  const lines = [
    `HTTP/1.1 ${status} Request Header Fields Too Large`,
    'Connection: close',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Cross-Origin-Resource-Policy: same-origin',
    `Content-Security-Policy: ${PAGE_POLICY}`,
    `Content-Type: ${isForProgram ? 'application/json' : 'text/html; charset=utf-8'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...clearingOf(namesIn(head), { path, host }).map((value) => `Set-Cookie: ${value}`),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)])
}

/** The names of all cookies in the head, or in the rest of a head that starts in the middle of its cookies. */
function namesIn(head: string): string[] {
  const names = new Set<string>([''])
  for (const [index, line] of head.split('\r\n').entries()) {
    const cookies = /^cookie:(.*)$/is.exec(line)?.[1] ?? (index === 0 && !/^[A-Z]+ \//.test(line) ? line : '')
    for (const pair of cookies.split(';')) {
      const name = pair.slice(0, pair.includes('=') ? pair.indexOf('=') : 0).trim()
      if (name.length <= NAME_MAX_LENGTH && !hasControl(name)) names.add(name)
      if (names.size >= NAMES_MAX) return [...names]
    }
  }
  return [...names]
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/** `/a/b/c` as `/`, `/a`, `/a/`, `/a/b`, …: cookie paths with and without the last slash differ. */
function pathsAbove(path: string): string[] {
  const segments = (path.split('?', 1)[0] ?? '').split('/').slice(1).filter(Boolean)
  const paths = new Set(['/'])
  let above = ''
  for (const segment of segments) {
    above += `/${segment}`
    paths.add(above).add(`${above}/`)
  }
  return [...paths].filter((place) => /^[\x21-\x3a\x3c-\x7e]+$/.test(place)).slice(0, PATHS_MAX)
}

/** `hub.home.lan:8080` as `hub.home.lan` and `home.lan`; nothing for an address or a single name. */
function domainsAbove(host: string | undefined): string[] {
  const name = host?.toLowerCase().replace(/:\d+$/, '') ?? ''
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(name)) return []
  const labels = name.split('.')
  return labels.slice(0, -1).map((_label, index) => labels.slice(index).join('.'))
}

/** The script knows the page's whole path, which the hub may not. */
const SCRIPT = `
const names = document.cookie.split('; ').map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))))
const labels = location.hostname.split('.')
const domains = ['', ...labels.map((_label, index) => '; Domain=' + labels.slice(index).join('.'))]
const places = ['/']
let above = ''
for (const segment of location.pathname.split('/').filter(Boolean)) {
  above += '/' + segment
  places.push(above, above + '/')
}
for (const place of places)
  for (const domain of domains)
    for (const name of names)
      document.cookie = name + '=; Max-Age=0; Path=' + place + domain + (name.startsWith('__') ? '; Secure' : '')
`
const PAGE_POLICY =
  `default-src 'none'; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'; base-uri ` +
  "'none'; form-action 'none'; frame-ancestors 'none'"

function page(message: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Too many cookies</title>
<h1>Too many cookies</h1>
<p>${message}</p>
<p><a href="">Load this page again</a></p>
<script>${SCRIPT}</script>
</html>
`
}
