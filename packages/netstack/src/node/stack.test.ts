import { getEventListeners, once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeEchoReply, encodeUnreachable } from '../icmp.ts'
import { parseAddress } from '../ipv4.ts'
import { A, B, type JoinedStacks, joinStacks } from './joined-stacks.ts'
import { createStack } from './stack.ts'
import type { TcpStream } from './tcp-stream.ts'

let joined: JoinedStacks

beforeEach(() => {
  joined = joinStacks()
})
afterEach(() => joined.close())

async function failure(stream: TcpStream): Promise<string | undefined> {
  const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException]
  return error.code
}

/** An open connection, both ends of it. */
async function pair(): Promise<[TcpStream, TcpStream]> {
  const accepted = Promise.withResolvers<TcpStream>()
  joined.b.listen({ port: 9 }, accepted.resolve)
  const client = joined.a.connect({ host: B, port: 9 })
  await once(client, 'ready')
  return [client, await accepted.promise]
}

describe('a turn', () => {
  it('sends 64 packets, and all that wait when other work made it long', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      for (const [otherWorkMs, expected] of [
        [0, 64],
        [50, 300],
      ] as const) {
        let sent = 0
        const stack = createStack({ address: A, send: () => void sent++ })
        for (let port = 1; port <= 300; port++) stack.connect({ host: B, port }).on('error', () => {})
        vi.advanceTimersByTime(otherWorkMs)
        await nextTurn()
        expect(sent).toBe(expected)
        stack.close()
      }
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('connect', () => {
  it('refuses a port without a listener', async () => {
    const [error] = (await once(joined.a.connect({ host: B, port: 81 }), 'error')) as [Error]
    expect(error).toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect', address: B, port: 81 })
    expect(error.message).toBe(`connect ECONNREFUSED ${B}:81`)
  })

  it('fails with EHOSTUNREACH when a router says so', async () => {
    const stack = createStack({
      address: A,
      // Host unreachable, about the SYN.
      send: (packet) => stack.receive(encodeUnreachable(parseAddress('10.100.0.99')!, parseAddress(A)!, 1, packet)),
    })
    expect(await failure(stack.connect({ host: B, port: 80 }))).toBe('EHOSTUNREACH')
    stack.close()
  })

  it('gives up after timeoutMs when nobody answers', async () => {
    joined.cut = true
    expect(await failure(joined.a.connect({ host: B, port: 80, timeoutMs: 30 }))).toBe('ETIMEDOUT')
  })

  it('is aborted by its signal, before and after the handshake', async () => {
    const before = joined.a.connect({ host: B, port: 80, signal: AbortSignal.abort() })
    expect(await failure(before)).toBe('ABORT_ERR')
    joined.b.listen({ port: 80 }, (stream) => stream.resume())
    const controller = new AbortController()
    const after = joined.a.connect({ host: B, port: 80, signal: controller.signal })
    await once(after, 'connect')
    setImmediate(() => controller.abort())
    expect(await failure(after)).toBe('ABORT_ERR')
    // A signal that outlives its streams does not collect them.
    const lasting = new AbortController()
    const brief = joined.a.connect({ host: B, port: 80, signal: lasting.signal })
    await once(brief, 'connect')
    brief.destroy()
    await once(brief, 'close')
    expect(getEventListeners(lasting.signal, 'abort')).toEqual([])
  })

  it('does not resolve names, and cannot reach itself', async () => {
    expect(await failure(joined.a.connect({ host: 'localhost', port: 80 }))).toBe('ERR_INVALID_IP_ADDRESS')
    expect(await failure(joined.a.connect({ host: '010.100.0.2', port: 80 }))).toBe('ERR_INVALID_IP_ADDRESS')
    expect(await failure(joined.a.connect({ host: A, port: 80 }))).toBe('EHOSTUNREACH')
    expect(() => joined.a.connect({ host: B, port: 65_536 })).toThrow(/port/)
  })

  it('sends what was written before the handshake was over', async () => {
    const received = Promise.withResolvers<string>()
    joined.b.listen({ port: 80 }, (stream) => {
      stream.end()
      received.resolve(text(stream))
    })
    const stream = joined.a.connect({ host: B, port: 80 })
    expect(stream.connecting).toBe(true)
    stream.end('early')
    stream.resume()
    expect(await received.promise).toBe('early')
    expect(stream.bytesWritten).toBe(5)
  })
})

describe('listen', () => {
  it('says EADDRINUSE for a port that is taken, and frees it on close', () => {
    const listener = joined.a.listen({ port: 80 }, () => undefined)
    expect(() => joined.a.listen({ port: 80 }, () => undefined)).toThrow(
      expect.objectContaining({ code: 'EADDRINUSE' }),
    )
    listener.close()
    expect(joined.a.listen({ port: 80 }, () => undefined).port).toBe(80)
    expect(joined.a.listen({ port: 0 }, () => undefined).port).toBeGreaterThan(1023)
  })
})

describe('a stream', () => {
  it('ends, finishes and closes in order on both sides', async () => {
    const [client, server] = await pair()
    const events: string[] = []
    for (const name of ['end', 'finish', 'close']) client.on(name, () => events.push(name))
    client.resume()
    server.resume()
    server.end('bye')
    await Promise.all([once(client, 'close'), once(server, 'close')])
    expect(events).toEqual(['end', 'finish', 'close'])
    expect([client.errored, server.errored]).toEqual([null, null])
  })

  it.each(['dialled', 'accepted'])('that nobody reads notices the end of its peer, %s', async (which) => {
    const [client, server] = await pair()
    const [reader, other] = which === 'dialled' ? [client, server] : [server, client]
    const ended = once(reader, 'end')
    const closed = once(reader, 'close')
    other.resume()
    other.end()
    await ended
    // A dialled one ends with its peer, an accepted one when it likes.
    if (which === 'accepted') reader.end()
    await closed
    expect(reader.destroyed).toBe(true)
  })

  it('delivers all earlier writes before destroySoon', async () => {
    const [client, server] = await pair()
    const received = text(client)
    server.write('x'.repeat(3_000_000))
    server.destroySoon()
    expect((await received).length).toBe(3_000_000)
  })

  it('can be read to its end after the peer closed and the connection is over', async () => {
    const [client, server] = await pair()
    client.end()
    server.resume()
    server.end('y'.repeat(200_000))
    await once(server, 'close')
    await sleep(20)
    expect((await text(client)).length).toBe(200_000)
  })

  it('fails with ECONNRESET when the peer resets', async () => {
    const [client, server] = await pair()
    const failed = failure(client)
    server.resetAndDestroy()
    expect(await failed).toBe('ECONNRESET')
  })

  it('fails with EPIPE when written to after the peer closed for good', async () => {
    const [client, server] = await pair()
    server.on('error', () => undefined)
    client.on('error', () => undefined)
    server.destroy()
    client.resume()
    await once(client, 'close')
    const error = await new Promise<Error | null | undefined>((resolve) => client.write('x', resolve))
    expect(error).toBeInstanceOf(Error)
  })

  it('fails a write that waits for room when it is destroyed', async () => {
    const [client] = await pair()
    // More than both sides hold, and nobody reads.
    const written = new Promise<Error | null | undefined>((resolve) => client.write(Buffer.alloc(16 << 20), resolve))
    await new Promise(setImmediate)
    client.destroy()
    expect(await written).toMatchObject({ code: 'EPIPE' })
  })

  it('emits timeout after a period without traffic either way, and goes on', async () => {
    // Before the handshake: a clock that is exchanged under open connections would go back.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const [client, server] = await pair()
      server.pipe(server)
      let timeouts = 0
      client.setTimeout(1_000, () => timeouts++)
      for (let i = 0; i < 5; i++) {
        vi.advanceTimersByTime(900)
        const echoed = once(client, 'data')
        client.write('x')
        await echoed
      }
      expect(timeouts).toBe(0)
      vi.advanceTimersByTime(999)
      expect(timeouts).toBe(0)
      vi.advanceTimersByTime(1)
      expect([timeouts, client.destroyed]).toEqual([1, false])
    } finally {
      vi.useRealTimers()
    }
  })

  it('refuses a timeout that no timer can wait', async () => {
    const [client] = await pair()
    for (const timeoutMs of [-1, Number.NaN, Infinity, 2 ** 31])
      expect(() => client.setTimeout(timeoutMs)).toThrow(expect.objectContaining({ code: 'ERR_OUT_OF_RANGE' }))
    expect(client.timeout).toBe(0)
    expect(client.setTimeout(2 ** 31 - 1).timeout).toBe(2 ** 31 - 1)
  })

  it('notices by setKeepAlive that the other side has left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const [client] = await pair()
      client.setKeepAlive(true, 1_000)
      joined.cut = true
      const failed = failure(client)
      for (let seconds = 0; seconds < 13 && !client.destroyed; seconds++) {
        for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
        vi.advanceTimersByTime(1_000)
      }
      expect(await failed).toBe('ETIMEDOUT')
    } finally {
      vi.useRealTimers()
    }
  })

  it('may have its buffer changed as soon as the write is complete', async () => {
    const [client, server] = await pair()
    const received = text(server)
    const buffer = Buffer.alloc(100_000, 'a')
    await new Promise((resolve) => client.write(buffer, resolve))
    buffer.fill('b')
    client.end()
    expect(await received).toBe('a'.repeat(100_000))
  })

  it('sends small writes at once, and collects them after setNoDelay(false)', async () => {
    // While it stands still nothing is sent twice.
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    try {
      let isCut = false
      const sent: string[] = []
      const send = (packet: Uint8Array): void => {
        sent.push(String.fromCharCode(packet.at(-1)!))
        const copy = packet.slice()
        if (!isCut) setImmediate(() => b.receive(copy))
      }
      const a = createStack({ address: A, send })
      const b = createStack({
        address: B,
        send: (packet) => void setImmediate((copy) => a.receive(copy), packet.slice()),
      })
      b.listen({ port: 9 }, () => undefined)
      const client = a.connect({ host: B, port: 9 })
      await once(client, 'ready')
      const write = async (letter: string): Promise<void> => {
        client.write(letter)
        for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
      }
      isCut = true
      sent.length = 0
      for (const letter of 'xy') await write(letter)
      client.setNoDelay(false)
      for (const letter of 'zz') await write(letter)
      expect(sent).toEqual(['x', 'y'])
      client.setNoDelay()
      await write('')
      expect(sent).toEqual(['x', 'y', 'z'])
      a.close()
      b.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('counts bytes', async () => {
    const [client, server] = await pair()
    const received = text(server)
    client.end('12345')
    await received
    expect([client.bytesWritten, server.bytesRead]).toEqual([5, 5])
  })
})

describe('the stack', () => {
  it('answers a ping, and times one out', async () => {
    expect(await joined.a.ping(B)).toBeLessThan(5_000)
    joined.cut = true
    await expect(joined.a.ping(B, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  it('accepts an answer to a ping only from the pinged address', async () => {
    const another = parseAddress('10.100.0.99')!
    const stack = createStack({
      address: A,
      send: (packet) => stack.receive(encodeEchoReply(another, parseAddress(A)!, packet.subarray(24))),
    })
    await expect(stack.ping(B, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(await stack.ping('10.100.0.99')).toBeGreaterThanOrEqual(0)
    stack.close()
  })

  it('resets its connections on close, and fails later calls', async () => {
    const [client, server] = await pair()
    const failed = failure(server)
    const closed = once(client, 'close')
    joined.a.close()
    await closed
    expect(await failed).toBe('ECONNRESET')
    expect(await failure(joined.a.connect({ host: B, port: 9 }))).toBe('ERR_STACK_CLOSED')
    await expect(joined.a.ping(B)).rejects.toMatchObject({ code: 'ERR_STACK_CLOSED' })
  })

  it('continues for others when a handler throws, and the error is the process’s as with net', async () => {
    const [client, server] = await pair()
    const other = joined.a.connect({ host: B, port: 9 })
    await once(other, 'ready')
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const caught = once(process, 'uncaughtException') as Promise<[Error]>
    client.on('data', () => {
      throw new Error('from a handler')
    })
    server.write('boom')
    const [error] = await caught
    for (const listener of listeners) process.on('uncaughtException', listener)
    expect(error.message).toBe('from a handler')
    const answered = once(client.removeAllListeners('data'), 'data') as Promise<[Buffer]>
    server.write('still here')
    expect(String((await answered)[0])).toBe('still here')
    const closed = once(other, 'close')
    other.end()
    other.resume()
    other.destroy()
    await closed
  })

  it('refuses an invalid address or MTU', () => {
    const send = (): void => undefined
    expect(() => createStack({ address: '10.0.0.256', send })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_IP_ADDRESS' }),
    )
    expect(() => createStack({ address: '10.0.0.1', mtu: 100, send })).toThrow(RangeError)
  })
})
