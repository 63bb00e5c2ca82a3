import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
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
/** As a mail program shows it (RFC 2047 §6.2): the space between two encoded words is none of the text. */
const readHeader = (value: string) =>
  value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, way: string, encoded: string) =>
      way.toUpperCase() === 'B' ? Buffer.from(encoded, 'base64').toString() : encoded,
    )
const isLetGo = () =>
  vi.waitFor(() => expect([...sockets].map((socket) => socket.closed)).toEqual([true]), { timeout: 20_000 })

describe('a mail', () => {
  it.each([
    'boar at Barn',
    '=?UTF-8?B?SGFja2Vk?= at Barn',
    '=?utf-8?q?Hacked?=',
    `=?UTF-8?B?SGFja2Vk?= ${'Łąka 🦔 '.repeat(30)}end`,
  ])('has the subject "%s" as it is', async (subject) => {
    const received = Promise.withResolvers<string>()
    const smtp = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onData: (stream, _session, done) => {
        const answer = () => done()
        text(stream).then(received.resolve).then(answer, answer)
      },
    })
    smtp.listen(0, '127.0.0.1')
    onTestFinished(() => smtp.close(() => {}))
    await once(smtp.server, 'listening')
    const mailer = createMailer({
      url: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
      from: 'hub@example.net',
    })
    onTestFinished(() => mailer.close())
    await mailer.send({ ...MAIL, subject })
    const [head = ''] = (await received.promise).split('\r\n\r\n')
    expect(head.split('\r\n').filter((line) => line.length > 78)).toEqual([])
    const [, sent = ''] = /^Subject: (.*)$/m.exec(head.replaceAll('\r\n ', ' ').replaceAll('\r', '')) ?? []
    expect(readHeader(sent)).toBe(subject)
  })

  it.each(['ada&x@example.net', 'ada+a=b@example.net', "!#$%&'*+-/=?^_`{|}~@example.net"])('goes to %s', async (to) => {
    const recipients: string[] = []
    const smtp = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onData: (stream, { envelope }, done) => {
        recipients.push(...envelope.rcptTo.map(({ address }) => address))
        stream.resume().once('end', () => done())
      },
    })
    smtp.listen(0, '127.0.0.1')
    onTestFinished(() => smtp.close(() => {}))
    await once(smtp.server, 'listening')
    const url = `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`
    const mailer = createMailer({ url, from: 'hub@example.net' })
    onTestFinished(() => mailer.close())
    await mailer.send({ ...MAIL, to })
    expect(recipients).toEqual([to])
  })

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
