import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { readFile, readdir, rm, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Device, Endpoint, PublicKey } from '@hedgerow/wireguard'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { createNetworkNamespace } from '../test/harness/network-namespace.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { startWireGuardGo } from '../test/harness/wireguard-go.ts'
import { atRate } from './wireguard-blaster.ts'
import { rounded } from './report.ts'
import { datagramOf, openDevice } from './wireguard-device-pair.ts'
import type { Hub } from './wireguard-hub.ts'
import { whatIsMissing } from './wireguard-pair.ts'
import { startCalledProcess } from '../test/harness/called-process.ts'

const PORT = 51_820
/** Below the rate at which either side asks for cookies, which would be two messages for one handshake. */
const CALLS_PER_SECOND = 400
const CALL_SECONDS = 4
const CALLED = 400

type Peer = { publicKey: PublicKey; address: string; endpoint?: Endpoint }

/** A WireGuard in a process of its own, ours or wireguard-go, whose peers this process plays. */
type Subject = {
  pid: number
  publicKey: PublicKey
  endpoint: Endpoint
  /** The address under which it reaches the played peers. */
  callersAddress: string
  addPeers(peers: Peer[]): Promise<unknown>
  /** Makes it begin a handshake with each of these peers. */
  call(peers: Peer[]): Promise<unknown>
  stop(): Promise<unknown>
}

/**
 * How many handshakes one core answers and begins in a second, from the processor time that they took, beside
 * wireguard-go.
 */
export async function measureHandshakesBesideGo(): Promise<Record<string, Record<string, number>>> {
  const missing = whatIsMissing()
  if (missing !== undefined) {
    console.log(`skipped: handshakes beside wireguard-go: ${missing}`)
    return {}
  }
  const figures = { theirs: await measure(await startTheirs()), ours: await measure(await startOurs()) }
  const row = (role: 'answered' | 'begun') => ({
    'wireguard-go': rounded(figures.theirs[role]),
    ours: rounded(figures.ours[role]),
    ratio: rounded(figures.ours[role] / figures.theirs[role]),
  })
  return {
    'handshakes answered (per second of a core)': row('answered'),
    'handshakes begun (per second of a core)': row('begun'),
  }
}

async function measure(subject: Subject): Promise<{ answered: number; begun: number }> {
  try {
    return { answered: await measureAnswers(subject), begun: await measureCalls(subject) }
  } finally {
    await subject.stop()
  }
}

/**
 * The second handshake of each peer: ours calculates the DH of both static keys at the first, wireguard-go when the
 * peer is added.
 */
async function measureAnswers(subject: Subject): Promise<number> {
  const callers = Array.from({ length: CALLS_PER_SECOND * CALL_SECONDS }, () => openDevice())
  await subject.addPeers(callers.map(({ publicKey }, index) => ({ publicKey, address: addressOf(index) })))
  for (const caller of callers)
    caller.addPeer({ publicKey: subject.publicKey, allowedIps: ['10.0.0.1/32'], endpoint: subject.endpoint })
  const socket = await openSocket(subject.callersAddress)
  let answers = 0
  socket.on('message', (data) => (answers += data[0] === 2 ? 1 : 0))

  async function callAll(now: { monotonicMs: number; unixMs: number }): Promise<number> {
    const initiations = callers.map((caller) => {
      caller.handshake(subject.publicKey, now)
      return datagramOf(caller.tick(now))
    })
    answers = 0
    const before = await processorMs(subject.pid)
    let sent = 0
    await atRate({ perSecond: CALLS_PER_SECOND, seconds: CALL_SECONDS }, () => {
      const initiation = initiations[sent++]
      if (initiation !== undefined) socket.send(initiation, subject.endpoint.port, subject.endpoint.address)
    })
    await sleep(300)
    return (answers / ((await processorMs(subject.pid)) - before)) * 1_000
  }

  const unixMs = Date.now()
  await callAll({ monotonicMs: 1_000, unixMs })
  const rate = await callAll({ monotonicMs: 10_000, unixMs: unixMs + 9_000 })
  socket.close()
  return rate
}

async function measureCalls(subject: Subject): Promise<number> {
  let confirmed = 0
  const called = await Promise.all(
    Array.from({ length: CALLED }, async (_, index) => {
      const device = openDevice()
      device.addPeer({ publicKey: subject.publicKey, allowedIps: ['10.0.0.1/32'] })
      const socket = await openSocket(subject.callersAddress)
      socket.on('message', (data, { address, port }) => {
        confirmed += answer(device, socket, { data, from: { address, port } })
      })
      const endpoint = { address: subject.callersAddress, port: socket.address().port }
      return { socket, peer: { publicKey: device.publicKey, address: addressOf(10_000 + index), endpoint } }
    }),
  )
  const peers = called.map(({ peer }) => peer)
  await subject.addPeers(peers)
  const before = await processorMs(subject.pid)
  await subject.call(peers)
  await waitFor(() => confirmed >= CALLED, { for: `${CALLED} handshakes` })
  const tookMs = (await processorMs(subject.pid)) - before
  for (const { socket } of called) socket.close()
  return (confirmed / tookMs) * 1_000
}

/** Plays a called peer; returns how many handshakes completed. */
function answer(device: Device, socket: Socket, { data, from }: { data: Uint8Array; from: Endpoint }): number {
  const now = { monotonicMs: performance.now(), unixMs: Date.now() }
  let completed = 0
  for (const output of device.receive(data, from, now)) {
    if (output.type === 'datagram') socket.send(output.data, output.to.port, output.to.address)
    if (output.type === 'handshake') completed++
  }
  return completed
}

async function startOurs(): Promise<Subject> {
  const hub = startCalledProcess<Hub>(join(import.meta.dirname, 'wireguard-hub.ts'))
  const { publicKey, port, pid } = await hub.call('identify', undefined)
  return {
    pid,
    publicKey,
    endpoint: { address: '127.0.0.1', port },
    callersAddress: '127.0.0.1',
    addPeers: (peers) => hub.call('addPeers', peers),
    call: (peers) =>
      hub.call(
        'handshake',
        peers.map((peer) => peer.publicKey),
      ),
    stop: hub.stop,
  }
}

async function startTheirs(): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), 'hedgerow-bench-'))
  const namespace = await createNetworkNamespace()
  const device = `hwh${process.pid}`
  const { privateKey, publicKey } = generateKeyPair()
  /** The peers as a file for `wg`; with a keepalive it begins a handshake with each at once. */
  async function configure(peers: Peer[], more: string[]): Promise<void> {
    const file = join(directory, 'peers.conf')
    const text = peers.flatMap(({ publicKey: key, address, endpoint }) => [
      '[Peer]',
      `PublicKey=${key}`,
      `AllowedIPs=${address}/32`,
      ...(endpoint === undefined ? [] : [`Endpoint=${endpoint.address}:${endpoint.port}`]),
      ...more,
    ])
    await writeFile(file, text.join('\n'), { mode: 0o600 })
    await namespace.run('wg', ['addconf', device, file])
  }
  const stop = async (): Promise<void> => {
    await namespace.remove()
    await rm(directory, { recursive: true })
  }
  try {
    const child = await startWireGuardGo(namespace, device)
    const keyFile = join(directory, 'key')
    await writeFile(keyFile, privateKey, { mode: 0o600 })
    await namespace.run('wg', ['set', device, 'private-key', keyFile, 'listen-port', String(PORT)])
    await namespace.run('ip', ['link', 'set', device, 'up'])
    return {
      pid: child.pid,
      publicKey,
      endpoint: { address: namespace.address, port: PORT },
      callersAddress: namespace.hostAddress,
      addPeers: (peers) => configure(peers, []),
      call: (peers) => configure(peers, ['PersistentKeepalive=25']),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const addressOf = (index: number): string => `10.64.${index >> 8}.${index & 0xff}`

async function openSocket(address: string): Promise<Socket> {
  const socket = createSocket('udp4')
  const listening = once(socket, 'listening')
  socket.bind(0, address)
  await listening
  return socket
}

/** The time that the scheduler gave to all threads of a process (proc_pid_schedstat: nanoseconds first). */
async function processorMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = threads.map(async (thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'))
  const spent = (await Promise.all(times)).map((line) => Number(line.split(' ')[0]))
  return spent.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6
}
