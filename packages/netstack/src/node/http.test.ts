import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { Readable, Writable, type Duplex } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { B, type JoinedStacks, joinStacks } from './joined-stacks.ts'
import type { TcpStream } from './tcp-stream.ts'

const MEGABYTE = 1 << 20
let joined: JoinedStacks
let server: http.Server | undefined

afterEach(() => {
  server?.close()
  joined.close()
})

type Handler = (incoming: http.IncomingMessage, outgoing: http.ServerResponse) => unknown

/** An HTTP server behind stack b, and a function to call it from stack a. */
function serve(handler: Handler, path: Parameters<typeof joinStacks>[0] = {}): http.Server {
  joined = joinStacks(path)
  server = http.createServer(handler)
  const { emit } = server
  joined.b.listen({ port: 80 }, (stream) => emit.call(server, 'connection', stream))
  return server
}

const connect = (): TcpStream => joined.a.connect({ host: B, port: 80 })

function request(options: http.RequestOptions = {}): http.ClientRequest {
  return http.request({ host: B, createConnection: connect, ...options })
}

async function response(outgoing: http.ClientRequest): Promise<http.IncomingMessage> {
  const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage]
  return incoming
}

/** Megabytes of random-looking bytes, made as they are read, and their hash once read. */
function body(megabytes: number): { stream: Readable; hash: () => string } {
  const block = randomBytes(MEGABYTE)
  const hash = createHash('sha256')
  const blocks = function* (): Generator<Buffer> {
    for (let i = 0; i < megabytes; i++) {
      const next = Buffer.from(block)
      next.writeUInt32BE(i)
      hash.update(next)
      yield next
    }
  }
  return { stream: Readable.from(blocks()), hash: () => hash.digest('hex') }
}

async function hashOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of stream) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

describe('HTTP over streams of the stack', () => {
  it('answers a request, and sees both ends of the connection', async () => {
    serve((incoming, outgoing) =>
      outgoing.end(`${incoming.socket.remoteAddress} ${incoming.socket.remoteFamily} ${incoming.url}`),
    )
    const outgoing = request({ path: '/hello' })
    outgoing.end()
    expect(await text(await response(outgoing))).toBe('10.100.0.1 IPv4 /hello')
  })

  it('carries the requests of undici, the base of fetch', async () => {
    serve((incoming, outgoing) => incoming.pipe(outgoing))
    await fetch('data:,').then((loaded) => loaded.text())
    // Node's own undici; its agent takes a connector.
    const known = globalThis as unknown as Record<
      symbol,
      { constructor: new (options: object) => { close(): Promise<void> } }
    >
    const { constructor: Agent } = known[Symbol.for('undici.globalDispatcher.2')]!
    const connector = (_options: unknown, connected: (error: null, stream: TcpStream) => void): void => {
      const stream = connect()
      stream.once('connect', () => connected(null, stream))
    }
    const dispatcher = new Agent({ connect: connector, pipelining: 1 })
    const sent = 'x'.repeat(2 * MEGABYTE)
    for (let i = 0; i < 3; i++) {
      const options = { method: 'POST', body: sent, dispatcher }
      const answer = await fetch(`http://${B}/`, options)
      expect(await answer.text()).toBe(sent)
    }
    await dispatcher.close()
  })

  it('keeps a connection alive for the agent', async () => {
    const ports = new Set<number | undefined>()
    serve((incoming, outgoing) => {
      ports.add(incoming.socket.remotePort)
      outgoing.end('ok')
    })
    const agent = new http.Agent({ keepAlive: true })
    Object.assign(agent, { createConnection: connect })
    for (let i = 0; i < 20; i++) {
      const outgoing = http.request({ host: B, agent })
      outgoing.end()
      expect(await text(await response(outgoing))).toBe('ok')
    }
    agent.destroy()
    expect(ports.size).toBe(1)
  })

  it('closes on both sides when the server ends the connection', async () => {
    let atServer: Promise<unknown> | undefined
    serve((incoming, outgoing) => {
      atServer = once(incoming.socket, 'close')
      outgoing.setHeader('connection', 'close').end('bye')
    })
    const stream = connect()
    const outgoing = request({ createConnection: () => stream })
    outgoing.end()
    expect(await text(await response(outgoing))).toBe('bye')
    await (stream.closed || once(stream, 'close'))
    expect(stream.errored).toBeNull()
    await expect(atServer).resolves.toEqual([])
  })

  it('answers pipelined requests in order', async () => {
    const first = Promise.withResolvers<() => void>()
    serve(async (incoming, outgoing) => {
      const end = () => void outgoing.end(`[${incoming.url}]`)
      if (incoming.url === '/1') return first.resolve(end)
      end()
      // The first answer is the last to be ready.
      if (incoming.url === '/3') (await first.promise)()
    })
    const stream = connect()
    stream.write(
      'GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: ' +
        'x\r\nConnection: close\r\n\r\n',
    )
    const answers = await text(stream)
    expect([...answers.matchAll(/\[\/(\d)\]/g)].map((match) => match[1])).toEqual(['1', '2', '3'])
  })

  it('answers a client that closed its sending side', async () => {
    serve((incoming, outgoing) => void incoming.socket.once('end', () => outgoing.end('late')))
    Object.assign(server!, { httpAllowHalfOpen: true })
    const stream = joined.a.connect({ host: B, port: 80, allowHalfOpen: true })
    stream.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(await text(stream)).toContain('late')
  })

  it('upgrades, and carries bytes both ways afterwards', async () => {
    serve(() => undefined).on('upgrade', (_incoming: http.IncomingMessage, socket: Duplex) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
      socket.pipe(socket)
    })
    const outgoing = request({ headers: { connection: 'Upgrade', upgrade: 'echo' } })
    outgoing.end()
    const [, socket] = (await once(outgoing, 'upgrade')) as [http.IncomingMessage, TcpStream]
    const sent = randomBytes(3 * MEGABYTE)
    socket.end(sent)
    expect(Buffer.compare(await buffer(socket), sent)).toBe(0)
  })

  it('sends a body only after 100 Continue', async () => {
    serve(async (incoming, outgoing) => outgoing.end(await text(incoming)))
    const outgoing = request({ method: 'POST', headers: { expect: '100-continue' } })
    outgoing.flushHeaders()
    await once(outgoing, 'continue')
    outgoing.end('the body')
    expect(await text(await response(outgoing))).toBe('the body')
  })

  it('tells the server when the client aborts', async () => {
    let aborted: Promise<unknown> | undefined
    serve((incoming, outgoing) => {
      aborted = once(outgoing, 'close')
      outgoing.write('first')
      incoming.resume()
    })
    const outgoing = request()
    outgoing.end()
    const incoming = await response(outgoing)
    await once(incoming, 'data')
    incoming.destroy()
    await expect(aborted).resolves.toEqual([])
  })

  it('carries 50 MB each way unchanged', async () => {
    serve(async (incoming, outgoing) => {
      const uploaded = await hashOf(incoming)
      outgoing.setHeader('x-uploaded', uploaded)
      const down = body(50)
      await pipeline(down.stream, outgoing)
      hashes.push(down.hash())
    })
    const hashes: string[] = []
    const outgoing = request({ method: 'POST' })
    const up = body(50)
    const answer = response(outgoing)
    await pipeline(up.stream, outgoing)
    const incoming = await answer
    expect(incoming.headers['x-uploaded']).toBe(up.hash())
    const downloaded = await hashOf(incoming)
    expect([downloaded]).toEqual(hashes)
  }, 60_000)

  it('carries bodies each way unchanged over a path that loses 1 %', async () => {
    serve(
      (incoming, outgoing) => {
        incoming.pipe(outgoing)
      },
      { loss: 0.01, delayMs: 2 },
    )
    const outgoing = request({ method: 'POST' })
    const up = body(5)
    const answer = response(outgoing).then(hashOf)
    await pipeline(up.stream, outgoing)
    expect(await answer).toBe(up.hash())
    expect(joined.lost).toBeGreaterThan(0)
  }, 60_000)

  it('holds the sender back while the reader rests', async () => {
    let written = 0
    let isWaiting = false
    serve((incoming, outgoing) => {
      if (incoming.url === '/small') {
        outgoing.end()
        return
      }
      const block = randomBytes(65_536)
      const fill = (): void => {
        isWaiting = false
        while (written < 64 * MEGABYTE) {
          written += block.length
          if (outgoing.write(block)) continue
          isWaiting = true
          outgoing.once('drain', fill)
          return
        }
        outgoing.end()
      }
      fill()
    })
    const outgoing = request()
    outgoing.end()
    const incoming = await response(outgoing)
    // Exchanges of other connections show that the stacks had their turns; the timer is for delayed acknowledgements.
    for (let still = 0, before = -1; still < 25; still++) {
      const small = request({ path: '/small' })
      small.end()
      await buffer(await response(small))
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (before !== written) still = -1
      before = written
    }
    expect(isWaiting).toBe(true)
    expect(incoming.readableLength, 'the reader has received bytes').toBeGreaterThan(0)
    expect(written).toBeLessThan(4 * MEGABYTE)
    let read = 0
    await pipeline(
      incoming,
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          read += chunk.length
          done()
        },
      }),
    )
    expect(read).toBe(64 * MEGABYTE)
  }, 60_000)
})
