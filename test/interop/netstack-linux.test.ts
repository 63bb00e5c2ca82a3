/**
 * Our TCP against Linux's: a kernel peer behind wireguard-go in a network namespace, reached through our own WireGuard.
 * Our streams dial a server of the kernel, and curl dials a server on our streams. Loss, delay, reordering and
 * duplication are made between our tunnel and our stack, seeded, because few kernels carry sch_netem.
 *
 * HEDGEROW_INTEROP_MEGABYTES=1024 sends that much each way over each path instead of a few megabytes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Stack, createStack } from '@hedgerow/netstack/node'
import { type WireGuardInterface, generateKeyPair, openInterface } from '@hedgerow/wireguard/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Child } from '../harness/child-process.ts'
import { type NetworkNamespace, createNetworkNamespace } from '../harness/network-namespace.ts'
import { skipWithout } from '../harness/privileges.ts'
import { openWireGuardGo } from '../harness/wireguard-go.ts'

const OURS = '10.77.1.1'
const THEIRS = '10.77.1.2'
/** wireguard-go is found by the name of its device, so each run needs a name of its own. */
const DEVICE = `hg${randomBytes(4).toString('hex')}`
const WIREGUARD_PORT = 51_820
const MEGABYTE = 1 << 20
const LEAVING_AT_ONCE = 24

/** A server on Linux's TCP: GET /<bytes> streams bytes that repeat a block, PUT answers with the body's SHA-256. */
const SERVER = `
  const { createServer } = require('node:http'), { createHash } = require('node:crypto')
  const block = Buffer.alloc(1 << 20, 'the quick brown fox jumps over the lazy dog;')
  createServer((request, response) => {
    request.socket.once('close', (failed) => console.log('closed', request.url, failed ? 'with an error' : 'cleanly'))
    if (request.method === 'PUT') {
      const hash = createHash('sha256')
      request.on('data', (chunk) => hash.update(chunk)).on('end', () => response.end(hash.digest('hex')))
      return
    }
    const hash = createHash('sha256')
    let left = Number(request.url.slice(1))
    const step = () => {
      while (left > 0) {
        const chunk = block.subarray(0, Math.min(left, block.length))
        left -= chunk.length
        hash.update(chunk)
        if (!response.write(chunk)) return response.once('drain', step)
      }
      response.addTrailers({ 'x-sha256': hash.digest('hex') })
      response.end()
    }
    response.writeHead(200, { trailer: 'x-sha256' })
    step()
  }).listen(80, '${THEIRS}', () => console.log('listening'))
`

/** Sends a datagram longer than the MTU, which leaves in fragments; no port listens, so the answer is an ICMP error. */
const SEND_LONG_DATAGRAM = `
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('error', (error) => { console.log(error.code); process.exit() })
  socket.connect(9, '${OURS}', () => socket.send(Buffer.alloc(4000)))
  setTimeout(() => { console.log('no answer'); process.exit() }, 5000)
`

interface Path {
  loss: number
  /** The delay in each direction. */
  delayMs: number
  /** The share of packets that overtake others, as netem's reorder: they are not delayed. */
  reordering: number
  duplication: number
}

interface Scenario {
  name: string
  path: Path
  mtu?: number
  /** The data is split among these streams: one alone would take hours over the worst paths. */
  streams: number
  megabytes: number
}

const PERFECT: Path = { loss: 0, delayMs: 0, reordering: 0, duplication: 0 }

const scenarios: Scenario[] = [
  { name: 'no loss', path: PERFECT, streams: 1, megabytes: 64 },
  { name: '20 ms and 0.1 % loss', path: { ...PERFECT, delayMs: 10, loss: 0.001 }, streams: 8, megabytes: 24 },
  { name: '100 ms and 1 % loss', path: { ...PERFECT, delayMs: 50, loss: 0.01 }, streams: 64, megabytes: 16 },
  {
    name: '25 % reordered and some doubled',
    path: { ...PERFECT, delayMs: 5, reordering: 0.25, duplication: 0.01 },
    streams: 4,
    megabytes: 24,
  },
  { name: 'an MTU of 1280', path: PERFECT, mtu: 1280, streams: 1, megabytes: 32 },
]

const wantedMegabytes = Number(process.env['HEDGEROW_INTEROP_MEGABYTES'] ?? 0)

const skipped = skipWithout(
  'netstack against Linux',
  'root',
  'tun',
  'command ip',
  'command wg',
  'command wireguard-go',
  'command curl',
)

describe.skipIf(skipped)('our TCP against the TCP of Linux', () => {
  let namespace: NetworkNamespace | undefined
  let directory = ''
  let tunnel: WireGuardInterface | undefined
  let server: Child
  let stack: Stack
  let path = PERFECT
  const agent = new http.Agent({ keepAlive: false })
  const seeded = createRandom(7)

  const openStack = (): Stack => createStack({ address: OURS, send: (packet) => carry(packet, leave) })

  /** Delivers a packet after the path's impairments. */
  function carry(packet: Uint8Array, deliver: (packet: Uint8Array) => void): void {
    if (path === PERFECT) return deliver(packet)
    if (seeded() < path.loss) return
    for (let copies = seeded() < path.duplication ? 2 : 1; copies > 0; copies--) {
      const copy = packet.slice()
      if (seeded() < path.reordering) deliver(copy)
      else setTimeout(() => deliver(copy), path.delayMs)
    }
  }

  /**
   * One timer releases everything that is due since the last one, and wireguard-go's socket holds about ninety
   * datagrams. A real path has no such bursts, so late packets leave a few at a time.
   */
  const leaving: Uint8Array[] = []
  let isLeaving = false
  function leave(packet: Uint8Array): void {
    if (path === PERFECT) return tunnel?.send(packet)
    leaving.push(packet)
    if (isLeaving) return
    isLeaving = true
    setImmediate(letGo)
  }
  function letGo(): void {
    for (const packet of leaving.splice(0, LEAVING_AT_ONCE)) tunnel?.send(packet)
    isLeaving = leaving.length > 0
    if (isLeaving) setTimeout(letGo, 1)
  }

  beforeAll(async () => {
    namespace = await createNetworkNamespace()
    directory = await mkdtemp(join(tmpdir(), 'hedgerow-'))
    const [ours, theirs] = [generateKeyPair(), generateKeyPair()]
    const keyFile = join(directory, 'key')
    await writeFile(keyFile, theirs.privateKey, { mode: 0o600 })
    await openWireGuardGo(namespace, { device: DEVICE, keyFile, port: WIREGUARD_PORT, address: THEIRS })
    tunnel = await openInterface({
      privateKey: ours.privateKey,
      host: namespace.hostAddress,
      onPacket: (packet) => carry(packet, (late) => stack.receive(late)),
    })
    stack = openStack()
    Object.assign(agent, { createConnection: () => stack.connect({ host: THEIRS, port: 80 }) })
    const endpoint = { address: namespace.address, port: WIREGUARD_PORT }
    tunnel.addPeer({ publicKey: theirs.publicKey, allowedIps: [`${THEIRS}/32`], endpoint })
    const peerEndpoint = `${namespace.hostAddress}:${tunnel.port}`
    await namespace.run('wg', [
      'set',
      DEVICE,
      'peer',
      ours.publicKey,
      'allowed-ips',
      `${OURS}/32`,
      'endpoint',
      peerEndpoint,
    ])
    server = await namespace.start(process.execPath, ['-e', SERVER])
    await server.says(/listening/)
  })

  afterEach(() => {
    path = PERFECT
  })

  afterAll(async () => {
    agent.destroy()
    stack?.close()
    await tunnel?.close()
    await namespace?.remove()
    if (directory !== '') await rm(directory, { recursive: true })
  })

  async function request(options: http.RequestOptions, body?: Readable): Promise<http.IncomingMessage> {
    const outgoing = http.request({ host: THEIRS, agent, ...options })
    const answered = once(outgoing, 'response') as Promise<[http.IncomingMessage]>
    if (body === undefined) outgoing.end()
    else await pipeline(body, outgoing)
    return (await answered)[0]
  }

  it('pings the kernel', async () => {
    expect(await stack.ping(THEIRS)).toBeGreaterThan(0)
  })

  for (const scenario of scenarios) {
    const megabytes = wantedMegabytes || scenario.megabytes
    const bytes = Math.floor((megabytes * MEGABYTE) / scenario.streams)
    const each = Array.from({ length: scenario.streams })
    const timeoutMs = 60_000 + megabytes * 1_000

    describe(`over a path with ${scenario.name}`, () => {
      beforeAll(async () => {
        await namespace?.run('ip', ['link', 'set', DEVICE, 'mtu', String(scenario.mtu ?? 1420)])
      })
      beforeEach(() => {
        path = scenario.path
      })

      it(
        `downloads ${megabytes} MB unchanged, in ${scenario.streams}`,
        async () => {
          await Promise.all(
            each.map(async () => {
              const incoming = await request({ path: `/${bytes}` })
              const hash = createHash('sha256')
              let received = 0
              for await (const chunk of incoming as AsyncIterable<Buffer>) {
                hash.update(chunk)
                received += chunk.length
              }
              expect(received).toBe(bytes)
              expect(incoming.trailers['x-sha256']).toBe(hash.digest('hex'))
            }),
          )
        },
        timeoutMs,
      )

      it(
        `uploads ${megabytes} MB unchanged, in ${scenario.streams}`,
        async () => {
          const block = randomBytes(MEGABYTE)
          await Promise.all(
            each.map(async () => {
              const hash = createHash('sha256')
              const blocks = function* (): Generator<Buffer> {
                for (let left = bytes; left > 0; left -= MEGABYTE) {
                  const next = block.subarray(0, Math.min(left, MEGABYTE))
                  hash.update(next)
                  yield next
                }
              }
              const incoming = await request({ method: 'PUT' }, Readable.from(blocks()))
              expect(await body(incoming)).toBe(hash.digest('hex'))
            }),
          )
        },
        timeoutMs,
      )
    })
  }

  it('is refused by a closed port', async () => {
    const stream = stack.connect({ host: THEIRS, port: 81 })
    const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
  })

  it('serves curl, up and down', async () => {
    const server = http.createServer(async (incoming, outgoing) => {
      const hash = createHash('sha256')
      for await (const chunk of incoming as AsyncIterable<Buffer>) hash.update(chunk)
      outgoing.setHeader('x-sha256', hash.digest('hex'))
      outgoing.end(Buffer.alloc(20 * MEGABYTE, 'z'))
    })
    const listener = stack.listen({ port: 8080 }, (stream) => server.emit('connection', stream))
    const upload = randomBytes(20 * MEGABYTE)
    const [sent, answer, headers] = ['sent', 'answer', 'headers'].map((file) => join(directory, file)) as [
      string,
      string,
      string,
    ]
    await writeFile(sent, upload)
    await namespace!.run('curl', ['-sS', '-T', sent, '-o', answer, '-D', headers, `http://${OURS}:8080/`])
    const report = await namespace!.run('sh', ['-c', `cat ${headers}; sha256sum < ${answer}`])
    expect(report).toContain(createHash('sha256').update(upload).digest('hex'))
    expect(report).toContain(
      createHash('sha256')
        .update(Buffer.alloc(20 * MEGABYTE, 'z'))
        .digest('hex'),
    )
    listener.close()
    server.close()
  })

  it('opens and closes 2,000 connections, each with a request', async () => {
    const fresh = new http.Agent({ keepAlive: false, maxSockets: 64 })
    Object.assign(fresh, { createConnection: () => stack.connect({ host: THEIRS, port: 80 }) })
    const answers = await Promise.all(
      Array.from({ length: 2_000 }, async () => body(await request({ path: '/10', agent: fresh }))),
    )
    expect(answers.length).toBe(2_000)
    expect(new Set(answers)).toEqual(new Set(['the quick ']))
  })

  it('joins the kernel’s fragments, and reports a closed port', async () => {
    const answer = await namespace!.run(process.execPath, ['-e', SEND_LONG_DATAGRAM])
    expect(answer.trim()).toBe('ECONNREFUSED')
  })

  it('notices by keepalive that the kernel’s host has disappeared', async () => {
    const stream = stack.connect({ host: THEIRS, port: 80 })
    await once(stream, 'connect')
    stream.setKeepAlive(true, 500)
    await namespace!.run('ip', ['link', 'set', DEVICE, 'down'])
    const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException]
    await namespace!.run('ip', ['link', 'set', DEVICE, 'up'])
    expect(error.code).toBe('ETIMEDOUT')
  })

  it('that dies silently is replaced by its successor, which resets unknown connections', async () => {
    const dying = stack
    const incoming = await request({ path: '/800000000' })
    await once(incoming, 'data')
    incoming.on('error', () => undefined)
    stack = openStack()
    await server.says(/closed \/800000000 with an error/)
    expect(await stack.ping(THEIRS)).toBeGreaterThan(0)
    dying.close()
  })

  it('is reset or ended when the process of its peer is killed', async () => {
    const incoming = await request({ path: '/800000000' })
    await once(incoming, 'data')
    const failed = once(incoming, 'error') as Promise<[NodeJS.ErrnoException]>
    incoming.resume()
    server.signal('SIGKILL')
    expect((await failed)[0].code).toBe('ECONNRESET')
  })
})

async function body(incoming: http.IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text
}

/** Uniform in [0, 1), the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
