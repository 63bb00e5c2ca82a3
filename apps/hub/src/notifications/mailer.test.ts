import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMailer } from './mailer.ts'

let server: Server | undefined
const sockets = new Set<Socket>()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server?.close()
  await (server && once(server, 'close'))
})

async function serverThat(greets: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
    greets(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A mail server whose greeting never ends. */
function trickle(socket: Socket): void {
  socket.write('220-mail.example ESMTP\r\n')
  const timer = setInterval(() => socket.write('220-and\r\n'), 5)
  socket.once('close', () => clearInterval(timer))
}

const MAIL = { to: 'owner@example.org', id: 'one', subject: 'Hello', text: 'Hello' }
const isLetGo = () =>
  vi.waitFor(() => expect([...sockets].map((socket) => socket.closed)).toEqual([true]), { timeout: 20_000 })

describe('a mail', () => {
  it('ends by its deadline, however slowly the server sends', async () => {
    const url = await serverThat(trickle)
    const mailer = createMailer({ url, from: 'hub@example.net', deliveryTimeoutMs: 200 })
    await expect(mailer.send(MAIL)).rejects.toThrow(Error)
    await isLetGo()
  })

  it('is aborted when the hub stops', async () => {
    const url = await serverThat((socket) => {
      trickle(socket)
      setImmediate(() => mailer.close())
    })
    const mailer = createMailer({ url, from: 'hub@example.net' })
    await expect(mailer.send(MAIL)).rejects.toThrow(Error)
    await isLetGo()
  })
})
