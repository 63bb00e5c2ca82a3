import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { mayBeOfContent, post } from './http-call.ts'

let server: Server | undefined
const sockets = new Set<Socket>()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server?.close()
  await (server && once(server, 'close'))
})

async function postTo(answers: (socket: Socket) => void, timeoutMs: number): Promise<unknown> {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => answers(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return post({ url, body: Buffer.from('{}'), timeoutMs, signal: new AbortController().signal })
}

/** Writes until the other side closes. */
function forEver(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 5)
  socket.once('close', () => clearInterval(timer))
}

const OK = 'HTTP/1.1 200 OK\r\n'
const TEAPOT = "HTTP/1.1 418 I'm a teapot\r\n"

describe('a call to a hub', () => {
  it.each<[string, (socket: Socket) => void]>([
    [
      'switches protocols',
      (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    ['ends', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['ends in its body', (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nhi`)],
    ['answers without end', (socket) => forEver(socket, `${OK}\r\n${'x'.repeat(100_000)}`)],
  ])('settles when the server %s, long before its deadline', async (_peer, answers) => {
    await expect(postTo(answers, 600_000)).rejects.toThrow(Error)
  })

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['sends endless interim answers', (socket) => forEver(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
    ['lets its head trickle', (socket) => (socket.write(OK), forEver(socket, 'x'))],
    ['lets its body trickle', (socket) => (socket.write(`${OK}\r\n`), forEver(socket, 'x'))],
  ])('settles by its deadline when the server %s, and closes the connection', async (_peer, answers) => {
    await expect(postTo(answers, 200)).rejects.toThrow('no answer within 0 s')
    await vi.waitFor(() => expect([...sockets].every((socket) => socket.closed)).toBe(true), { timeout: 10_000 })
  })

  it.each<[string, boolean, (socket: Socket) => void]>([
    ['is too long', true, (socket) => forEver(socket, `${TEAPOT}\r\n${'x'.repeat(100_000)}`)],
    ['ends early', true, (socket) => socket.end(`${TEAPOT}Content-Length: 9\r\n\r\nhi`)],
    [
      'is reset',
      true,
      (socket) => socket.write(`${TEAPOT}Content-Length: 9\r\n\r\nhi`, () => socket.resetAndDestroy()),
    ],
    ['trickles', true, (socket) => (socket.write(`${TEAPOT}\r\n`), forEver(socket, 'x'))],
    ['follows 401 and ends early', false, (socket) => socket.end('HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\nhi')],
    ['follows 200 and ends early', false, (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nhi`)],
  ])('takes a refusal by its head when its page %s', async (_end, isOfContent, answers) => {
    const error = await postTo(answers, 2_000).catch((thrown: unknown) => thrown)
    expect(mayBeOfContent(error)).toBe(isOfContent)
  })
})
