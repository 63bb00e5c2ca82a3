/**
 * Stands in for the messengers' services, which tests cannot reach: follows their documentation, and refuses a wrong
 * token, an unknown chat and a missing field as they do.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export const TOKEN = 'k'.repeat(30)
export const USER = 'u'.repeat(30)
export const BOT = '123456:ABC-DEF_ghijkl'
export const CHAT = '-100200300'
export const NTFY_TOKEN = 'tk_secret'

export type Taken = { path: string; headers: IncomingMessage['headers']; body: Buffer }
/** An ntfy server as installed has no `attachment-cache-dir`; `full` is one whose quota is used up. */
type Attachments = 'taken' | 'off' | 'full'

export async function startMessengers() {
  const state = { taken: [] as Taken[], attachments: 'taken' as Attachments }
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { status, answer } = answerOf(request, body, state.attachments)
      if (status === 200) state.taken.push({ path: request.url ?? '', headers: request.headers, body })
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}`, state, stop: () => void server.close() }
}

function answerOf(
  { url: path = '', headers }: IncomingMessage,
  body: Buffer,
  attachments: Attachments,
): { status: number; answer: object } {
  if (path === '/1/messages.json') {
    const { token, user, message, priority, retry } = JSON.parse(body.toString()) as Record<string, unknown>
    if (token !== TOKEN) return { status: 400, answer: { status: 0, errors: ['application token is invalid'] } }
    if (user !== USER || message === '')
      return { status: 400, answer: { status: 0, errors: ['user identifier is not valid'] } }
    if (priority === 2 && !(Number(retry) >= 30)) return { status: 400, answer: { errors: ['retry must be supplied'] } }
    return { status: 200, answer: { status: 1 } }
  }
  if (path.startsWith('/bot')) {
    if (!path.startsWith(`/bot${BOT}/`)) return { status: 401, answer: { ok: false, description: 'Unauthorized' } }
    const isKnown = body.includes(CHAT)
    return isKnown
      ? { status: 200, answer: { ok: true } }
      : { status: 400, answer: { ok: false, description: 'Bad Request: chat not found' } }
  }
  if (headers.authorization !== `Bearer ${NTFY_TOKEN}`)
    return { status: 403, answer: { code: 40301, error: 'forbidden' } }
  return ntfyAnswer(headers, body, attachments)
}

/** binwiederhier/ntfy, server/server.go, handlePublishBody (1063 to 1076) and handleBodyAsAttachment (1146 to 1169). */
function ntfyAnswer(
  headers: IncomingMessage['headers'],
  body: Buffer,
  attachments: Attachments,
): { status: number; answer: object } {
  const isText = body.length < 4_096 && Buffer.from(body.toString('utf8')).equals(body)
  if ((headers['filename'] === undefined && isText) || attachments === 'taken')
    return { status: 200, answer: { id: 'x' } }
  return attachments === 'off'
    ? { status: 400, answer: { code: 40014, http: 400, error: 'invalid request: attachments not allowed' } }
    : { status: 413, answer: { code: 41301, http: 413, error: 'attachment too large, or bandwidth limit reached' } }
}
