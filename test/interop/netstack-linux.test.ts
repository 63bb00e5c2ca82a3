/**
 * Our TCP against Linux's: a kernel peer behind wireguard-go in a network namespace, reached through our own WireGuard. A
 * server of the kernel's is dialled by our streams, and curl dials a server on our streams. Loss, delay, reordering and
 * duplication are made between our tunnel and our stack, seeded, because few machines carry sch_netem.
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
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type NetworkNamespace, createNetworkNamespace } from '../harness/network-namespace.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

const OURS = '10.77.1.1'
const THEIRS = '10.77.1.2'
const DEVICE = 'hgtun0'
const WIREGUARD_PORT = 51_820
const MEGABYTE = 1 << 20

/** Runs on Linux's TCP: GET /<bytes> streams bytes that repeat a block, PUT answers with the body's SHA-256. */
const SERVER = `
  const { createServer } = require('node:http'), { createHash } = require('node:crypto')
  const block = Buffer.alloc(1 << 20, 'the quick brown fox jumps over the lazy dog;')
  createServer((request, response) => {
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

interface Path {
  loss: number
  duplication: number
  delayMs: number
  jitterMs: number
}

const PERFECT: Path = { loss: 0, duplication: 0, delayMs: 0, jitterMs: 0 }

const paths: [string, Path, number][] = [
  ['no loss', PERFECT, 50],
  ['20 ms and 1 % loss', { loss: 0.01, duplication: 0, delayMs: 10, jitterMs: 0 }, 10],
  ['reordering with duplication', { loss: 0, duplication: 0.05, delayMs: 2, jitterMs: 4 }, 20],
  ['20 ms, 1 % loss and reordering', { loss: 0.01, duplication: 0.01, delayMs: 10, jitterMs: 5 }, 5],
]

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
  let stack: Stack
  let path = PERFECT
  const agent = new http.Agent({ keepAlive: false })
  const seeded = createRandom(7)

  /** Delivers a packet as the path would. */
  function carry(packet: Uint8Array, deliver: (packet: Uint8Array) => void): void {
    if (path === PERFECT) return deliver(packet)
    if (seeded() < path.loss) return
    const copies = seeded() < path.duplication ? 2 : 1
    for (let copy = 0; copy < copies; copy++)
      setTimeout(() => deliver(packet.slice()), path.delayMs + seeded() * path.jitterMs)
  }

  beforeAll(async () => {
    namespace = await createNetworkNamespace()
    directory = await mkdtemp(join(tmpdir(), 'hedgerow-'))
    const [ours, theirs] = [generateKeyPair(), generateKeyPair()]
    await writeFile(join(directory, 'key'), theirs.privateKey, { mode: 0o600 })
    await namespace.start('wireguard-go', ['--foreground', DEVICE], {
      WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1',
    })
    const { run } = namespace
    await waitFor(() => run('wg', ['show', DEVICE]).catch(() => undefined), { for: 'wireguard-go to answer' })
    tunnel = await openInterface({
      privateKey: ours.privateKey,
      host: namespace.hostAddress,
      onPacket: (packet) => carry(packet, (late) => stack.receive(late)),
    })
    stack = createStack({ address: OURS, send: (packet) => carry(packet, (late) => tunnel?.send(late)) })
    Object.assign(agent, { createConnection: () => stack.connect({ host: THEIRS, port: 80 }) })
    const endpoint = { address: namespace.address, port: WIREGUARD_PORT }
    tunnel.addPeer({ publicKey: theirs.publicKey, allowedIps: [`${THEIRS}/32`], endpoint })
    await run('wg', ['set', DEVICE, 'private-key', join(directory, 'key'), 'listen-port', String(WIREGUARD_PORT)])
    const peerEndpoint = `${namespace.hostAddress}:${tunnel.port}`
    await run('wg', ['set', DEVICE, 'peer', ours.publicKey, 'allowed-ips', `${OURS}/32`, 'endpoint', peerEndpoint])
    await run('ip', ['address', 'add', `${THEIRS}/24`, 'dev', DEVICE])
    await run('ip', ['link', 'set', DEVICE, 'mtu', '1420', 'up'])
    const server = await namespace.start(process.execPath, ['-e', SERVER])
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

  for (const [name, given, megabytes] of paths) {
    it(`downloads ${megabytes} MB unchanged: ${name}`, async () => {
      path = given
      const incoming = await request({ path: `/${megabytes * MEGABYTE}` })
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        hash.update(chunk)
        bytes += chunk.length
      }
      expect(bytes).toBe(megabytes * MEGABYTE)
      expect(incoming.trailers['x-sha256']).toBe(hash.digest('hex'))
    })

    it(`uploads ${megabytes} MB unchanged: ${name}`, async () => {
      path = given
      const block = randomBytes(MEGABYTE)
      const hash = createHash('sha256')
      const blocks = function* (): Generator<Buffer> {
        for (let i = 0; i < megabytes; i++) {
          hash.update(block)
          yield block
        }
      }
      const incoming = await request({ method: 'PUT' }, Readable.from(blocks()))
      expect(await body(incoming)).toBe(hash.digest('hex'))
    })
  }

  it('is refused where nothing listens', async () => {
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

  it('opens and closes 500 connections, each of which carries a request', async () => {
    const fresh = new http.Agent({ keepAlive: false, maxSockets: 32 })
    Object.assign(fresh, { createConnection: () => stack.connect({ host: THEIRS, port: 80 }) })
    const answers = await Promise.all(
      Array.from({ length: 500 }, async () => body(await request({ path: '/10', agent: fresh }))),
    )
    expect(new Set(answers)).toEqual(new Set(['the quick ']))
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
