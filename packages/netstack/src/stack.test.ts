import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import { readUint16 } from './ipv4.ts'
import { type Path, Simulator, createCore, createRandom } from './simulator.ts'
import type { Output } from './stack.ts'

const A = 0x0a640001
const B = 0x0a640002

/** Random bytes each way at once, over a path; returns what each side read. */
function exchange(options: {
  path: Path
  bytes: number
  seed: number
  mtuB?: number
  congestionControl?: 'cubic' | 'new-reno'
}): {
  simulator: Simulator
  sent: [Uint8Array, Uint8Array]
  received: [Uint8Array, Uint8Array]
  ends: string[]
} {
  const random = createRandom(options.seed * 31)
  const payload = (): Uint8Array => {
    const words = new Uint32Array(Math.ceil(options.bytes / 4))
    for (let i = 0; i < words.length; i++) words[i] = random() * 2 ** 32
    return new Uint8Array(words.buffer, 0, options.bytes)
  }
  const sent: [Uint8Array, Uint8Array] = [payload(), payload()]
  const received: [Uint8Array, Uint8Array] = [new Uint8Array(options.bytes), new Uint8Array(options.bytes)]
  const offsets = [0, 0]
  const written = [0, 0]
  const ends: string[] = []
  const write = (side: number, connection: Connection): void => {
    written[side]! += connection.send(sent[side]!.subarray(written[side]))
    if (written[side] === options.bytes && !connection.isFinQueued) connection.shutdown()
  }
  const simulator = new Simulator({
    a: createCore(A, { congestionControl: options.congestionControl ?? 'cubic' }),
    b: createCore(B, { mtu: options.mtuB ?? 1420, congestionControl: options.congestionControl ?? 'cubic' }),
    path: options.path,
    seed: options.seed,
    onEvent(side, event) {
      const index = side === 'a' ? 0 : 1
      if (event.type === 'connected' || event.type === 'accepted' || event.type === 'writable')
        write(index, event.connection)
      if (event.type === 'readable') {
        for (;;) {
          const chunks = event.connection.read(65_536)
          if (chunks.length === 0) break
          for (const chunk of chunks) {
            received[index].set(chunk, offsets[index])
            offsets[index]! += chunk.length
          }
        }
        if (event.connection.isEnded) ends.push(`${side} end`)
      }
      if (event.type === 'closed') ends.push(`${side} closed ${event.error ?? 'cleanly'}`)
    },
  })
  simulator.b.listen(80)
  simulator.a.connect(B, 80, simulator.now)
  simulator.run(() => ends.length === 4, 3_600_000)
  return { simulator, sent, received, ends }
}

const paths: [string, Path, number?][] = [
  ['a perfect path', {}],
  ['20 ms and 0.1 % loss', { delayMs: 10, loss: 0.001 }],
  ['100 ms and 1 % loss', { delayMs: 50, loss: 0.01 }],
  ['10 % loss', { delayMs: 5, loss: 0.1 }],
  ['20 % loss', { delayMs: 2, loss: 0.2 }],
  ['25 % reordered with duplication', { delayMs: 5, reordering: 0.25, duplication: 0.05 }],
  ['heavy reordering with duplication', { delayMs: 5, jitterMs: 20, duplication: 0.25 }],
  ['loss, reordering and duplication at once', { delayMs: 10, jitterMs: 10, loss: 0.05, duplication: 0.1 }],
  ['a bottleneck with a short queue', { delayMs: 10, bytesPerMs: 2_000 }],
  ['a path that swallows long packets', { delayMs: 5, mtu: 1000 }],
  ['an MTU of 1280 at one end', { delayMs: 3, mtu: 1280, loss: 0.01 }, 1280],
]

describe('two stacks over a simulated network', () => {
  it('carry bytes both ways unchanged with NewReno as well', () => {
    const options = {
      path: { delayMs: 10, loss: 0.02 },
      bytes: 1_000_000,
      seed: 4,
      congestionControl: 'new-reno',
    } as const
    const { sent, received, ends } = exchange(options)
    expect(ends).toHaveLength(4)
    expect(Buffer.compare(received[0], sent[1]) || Buffer.compare(received[1], sent[0])).toBe(0)
  })

  for (const [name, path, mtuB] of paths) {
    for (const seed of [1, 2, 3]) {
      it(`carries bytes both ways unchanged over ${name} (seed ${seed})`, () => {
        const { sent, received, ends } = exchange({
          path,
          bytes: 1_000_000,
          seed,
          ...(mtuB === undefined ? {} : { mtuB }),
        })
        expect(ends.toSorted()).toEqual(['a closed cleanly', 'a end', 'b closed cleanly', 'b end'])
        expect(Buffer.compare(received[0], sent[1])).toBe(0)
        expect(Buffer.compare(received[1], sent[0])).toBe(0)
      })
    }
  }
})

describe('two stacks', () => {
  it('open and close 2,000 connections over a path that loses 1 %', () => {
    const ends: string[] = []
    const simulator = new Simulator({
      a: createCore(A),
      b: createCore(B),
      path: { delayMs: 10, loss: 0.01 },
      onEvent(_side, event) {
        if (event.type === 'connected') {
          event.connection.send(new Uint8Array(500))
          event.connection.shutdown()
        } else if (event.type === 'readable') {
          event.connection.read(65_536)
          if (event.connection.isEnded) event.connection.shutdown()
        } else if (event.type === 'closed') ends.push(event.error ?? 'cleanly')
      },
    })
    simulator.b.listen(80)
    for (let i = 0; i < 2_000; i++) {
      expect(simulator.a.connect(B, 80, simulator.now)).toBeDefined()
      simulator.pass(1)
    }
    simulator.run(() => ends.length === 4_000, 300_000)
    expect(ends).toEqual(Array.from({ length: 4_000 }, () => 'cleanly'))
    expect([simulator.a.nextDeadline(), simulator.b.nextDeadline()]).toEqual([undefined, undefined])
  })

  it('share a tick among connections: a burst of 64 segments at most of each, and all within two', () => {
    const [a, b] = [createCore(A), createCore(B)]
    const accepted: Connection[] = []
    const exchange = (): void => {
      for (let isBusy = true; isBusy;) {
        isBusy = false
        for (const [from, to] of [
          [a, b],
          [b, a],
        ] as const)
          for (const output of from.tick(0)) {
            if (output.type !== 'packet') continue
            isBusy = true
            for (const event of to.receive(output.packet, 0))
              if (event.type === 'accepted') accepted.push(event.connection)
          }
      }
    }
    b.listen(80)
    const connections = [1, 2, 3].map(() => a.connect(B, 80, 0)!)
    exchange()
    for (let i = 0; i < 20; i++) {
      for (const connection of connections) connection.send(new Uint8Array(1 << 20))
      exchange()
      for (const end of accepted) while (end.read(1 << 20).length > 0);
    }
    // Each window takes more than a burst.
    expect(Math.min(...connections.map(({ congestion }) => congestion.window))).toBeGreaterThan(64 * 1_380)
    for (const connection of connections) connection.send(new Uint8Array(1 << 20))
    const sentIn = (outputs: Output[]): Map<number, number> => {
      const ports = outputs.flatMap((output) => (output.type === 'packet' ? [readUint16(output.packet, 20)] : []))
      return new Map(connections.map(({ localPort }) => [localPort, ports.filter((port) => port === localPort).length]))
    }
    const [first, second] = [sentIn(a.tick(0)), sentIn(a.tick(0))]
    expect(Math.max(...first.values(), ...second.values())).toBeLessThanOrEqual(64)
    for (const { localPort } of connections) expect(first.get(localPort)! + second.get(localPort)!).toBeGreaterThan(0)
  })

  it('end a connection whose other side lost its memory, by the reset of its successor', () => {
    const ends: string[] = []
    const simulator = new Simulator({
      a: createCore(A),
      b: createCore(B),
      onEvent(side, event) {
        if (event.type === 'connected') event.connection.send(new Uint8Array(1_000))
        if (event.type === 'closed') ends.push(`${side} ${event.error ?? 'cleanly'}`)
      },
    })
    simulator.b.listen(80)
    const connection = simulator.a.connect(B, 80, simulator.now)
    simulator.pass(100)
    const successor = createCore(B)
    successor.listen(80)
    simulator.filter = (packet, fromA) => {
      if (fromA) simulator.take(simulator.b, successor.receive(packet.slice(), simulator.now))
      return !fromA
    }
    connection!.send(new Uint8Array(10))
    simulator.pass(1_000)
    expect(ends).toEqual(['a reset'])
  })

  it('end a connection whose other side is gone: after 100 s when something is owed', () => {
    const ends: string[] = []
    const simulator = new Simulator({
      a: createCore(A),
      b: createCore(B),
      onEvent(side, event) {
        if (event.type === 'connected') event.connection.send(new Uint8Array(1_000))
        if (event.type === 'closed')
          ends.push(`${side} ${event.error ?? 'cleanly'} after ${Math.round(simulator.now / 10_000)}0 s`)
      },
    })
    simulator.b.listen(80)
    const connection = simulator.a.connect(B, 80, simulator.now)
    simulator.pass(100)
    simulator.filter = () => false
    connection!.send(new Uint8Array(10))
    simulator.pass(300_000)
    expect(ends).toEqual([expect.stringMatching(/^a timed-out after 1[0-6]0 s$/)])
  })
})

describe('an idle connection', () => {
  it('keeps less than 4 KiB after a request and its answer', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const usedBytes = (): number => {
      // Buffers are freed beside the program after a collection; the next one waits for that.
      for (let i = 0; i < 3; i++) collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const open: Connection[] = []
    const simulator = new Simulator({
      a: createCore(A),
      b: createCore(B),
      onEvent(_side, event) {
        if (event.type === 'accepted' || event.type === 'connected') {
          event.connection.send(new Uint8Array(1_000))
          open.push(event.connection)
        } else if (event.type === 'readable') event.connection.read(65_536)
      },
    })
    simulator.b.listen(80, 1_000)
    const before = usedBytes()
    for (let i = 0; i < 500; i++) {
      simulator.a.connect(B, 80, simulator.now)
      if (i % 100 === 99) simulator.pass(1_000)
    }
    expect(open.length).toBe(1_000)
    expect((usedBytes() - before) / open.length).toBeLessThan(4_096)
  })
})
