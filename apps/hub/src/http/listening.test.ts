import Fastify from 'fastify'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { drain, listen } from './listening.ts'

it('a hub that stops waits for an answer that is due, and not for streams without an end', async () => {
  const app = Fastify()
  const due = Promise.withResolvers<string>()
  const arrived = Promise.withResolvers<void>()
  app.get('/', () => {
    arrived.resolve()
    return due.promise
  })
  const left: Socket[] = []
  app.server.on('upgrade', (_request, socket: Socket) => void left.push(socket))
  const port = await listen(app, { host: '127.0.0.1', port: 0 })
  const ask = (headers: string) => {
    const socket = connect(port, '127.0.0.1').resume()
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`)
    return socket
  }

  const endless = ask('Connection: Upgrade\r\nUpgrade: websocket')
  await once(app.server, 'upgrade')
  const asking = ask('Connection: close')
  await arrived.promise
  const steps: string[] = []
  const drained = drain(app, undefined, {
    endEndless() {
      steps.push('endless')
      for (const socket of left) socket.destroy()
    },
    async stop() {
      steps.push('all')
    },
  })
  await once(endless, 'close')
  expect(steps).toEqual(['endless'])
  due.resolve('late')
  await Promise.all([once(asking, 'close'), drained])
  expect(steps).toEqual(['endless', 'all'])
})
