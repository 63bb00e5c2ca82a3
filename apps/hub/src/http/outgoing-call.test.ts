import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callOut } from './outgoing-call.ts'

let server: Server | undefined
const sockets = new Set<Socket>()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server?.close()
  await (server && once(server, 'close'))
})

async function serverThat(answers: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => answers(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Writes until the other side closes. */
function forEver(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 5)
  socket.once('close', () => clearInterval(timer))
}

const OK = 'HTTP/1.1 200 OK\r\n'

describe('a call out', () => {
  it('takes no more memory for an answer of single bytes', async () => {
    const pieces = 50_000
    const url = await serverThat((socket) =>
      socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`),
    )
    const concat = vi.spyOn(Buffer, 'concat')
    const { body } = await callOut({ url, method: 'GET', timeoutMs: 60_000, answerLimitBytes: pieces })
    expect(body.length).toBe(pieces)
    expect(concat.mock.calls.filter(([list]) => list.length > 100)).toEqual([])
    concat.mockRestore()
  })

  it('returns status and body, or only the status', async () => {
    const url = await serverThat((socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nhi`))
    const call = { url, method: 'GET', timeoutMs: 10_000 } as const
    expect(await callOut({ ...call, answerLimitBytes: 2 })).toEqual({
      status: 200,
      headers: expect.any(Object),
      body: Buffer.from('hi'),
    })
    expect(await callOut(call)).toEqual({ status: 200, headers: expect.any(Object), body: Buffer.alloc(0) })
  })

  it.each<[string, (socket: Socket) => void]>([
    [
      'that switches protocols',
      (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    ['that ends', (socket) => socket.end()],
    ['that resets', (socket) => socket.resetAndDestroy()],
    ['that ends in its head', (socket) => socket.end(OK)],
    ['that ends in its body', (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nhi`)],
    ['that does not speak HTTP', (socket) => socket.write('220 mail.example ESMTP\r\n')],
    ['whose body is too long', (socket) => forEver(socket, `${OK}\r\n${'x'.repeat(10_000)}`)],
  ])('settles at a peer %s, long before its deadline', async (_peer, answers) => {
    const url = await serverThat(answers)
    const call = callOut({ url, method: 'GET', timeoutMs: 600_000, answerLimitBytes: 1_000 })
    await expect(call).rejects.toThrow(Error)
  })

  it.each<[string, (socket: Socket) => void]>([
    ['that says nothing', () => {}],
    ['that sends endless interim answers', (socket) => forEver(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
    ['whose head trickles', (socket) => (socket.write(OK), forEver(socket, 'x'))],
    ['whose body trickles', (socket) => (socket.write(`${OK}\r\n`), forEver(socket, 'x'))],
  ])('settles by its deadline at a peer %s, and closes the connection', async (_peer, answers) => {
    const url = await serverThat(answers)
    const call = callOut({ url, method: 'GET', timeoutMs: 200, answerLimitBytes: 1_000_000 })
    await expect(call).rejects.toThrow('no answer within 0 s')
    await vi.waitFor(() => expect([...sockets].every((socket) => socket.closed)).toBe(true), { timeout: 10_000 })
  })

  it('is aborted by its signal, before and during the call', async () => {
    const url = await serverThat(() => stopping.abort())
    const stopping = new AbortController()
    const call = { url, method: 'GET', timeoutMs: 600_000, signal: stopping.signal } as const
    await expect(callOut(call)).rejects.toThrow('aborted')
    await expect(callOut(call)).rejects.toThrow('aborted')
  })
})
