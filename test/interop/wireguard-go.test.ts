/**
 * Our WireGuard against wireguard-go, and against Linux's own where the kernel has it. The other one runs in a network
 * namespace behind a veth pair: both roles, a preshared key, rekeying, roaming and sizes to the MTU. We ping the kernel
 * behind it; from behind it a Node process sends UDP, which we send back. Needs root, `ip`, `wg` and either; elsewhere
 * it says what is missing and is skipped. It ends its processes by pid and deletes its namespace.
 */

import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:dgram'
import { createSocket } from 'node:dgram'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { DropReason, Endpoint, Now, PresharedKey, PrivateKey, PublicKey } from '@hedgerow/wireguard'
import type { WireGuardInterface } from '@hedgerow/wireguard/node'
import { generateKeyPair, generatePresharedKey, openInterface } from '@hedgerow/wireguard/node'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { refuseBesideBrowsers } from '../harness/network-namespace.ts'

const run = promisify(execFile)
const WAIT = { timeout: 60_000 }

const namespace = `hgwg${process.pid}`
const outerLink = `hgo${process.pid}`
const innerLink = `hgi${process.pid}`
const keyFile = join(tmpdir(), `hedgerow-wireguard-go-${process.pid}.key`)
const tunnel = `hgt${process.pid}`
/** TEST-NET-3: no other route on a machine leads there. */
const ourOuterAddress = '203.0.113.1'
const theirOuterAddress = '203.0.113.2'
const theirPort = 51_820
const ourAddress = '10.77.0.1'
const theirAddress = '10.77.0.2'

type Engine = {
  name: string
  /** The reason why it cannot run here. */
  missing(): string | undefined
  /** Makes the interface `tunnel` in the namespace. */
  start(): Promise<ChildProcess | undefined>
}

const engines: Engine[] = [
  {
    name: 'wireguard-go',
    missing() {
      try {
        accessSync('/dev/net/tun', constants.R_OK | constants.W_OK)
      } catch {
        return '/dev/net/tun is not there'
      }
      return missingCommand('wireguard-go')
    },
    async start() {
      return spawn('ip', ['netns', 'exec', namespace, 'wireguard-go', '--foreground', tunnel], {
        env: { ...process.env, LOG_LEVEL: 'error', WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1' },
        stdio: 'ignore',
      })
    },
  },
  {
    name: 'the WireGuard of Linux',
    missing() {
      const probe = `hgp${process.pid}`
      try {
        execFileSync('ip', ['link', 'add', probe, 'type', 'wireguard'], { stdio: 'ignore' })
      } catch {
        return 'this kernel has no WireGuard'
      }
      execFileSync('ip', ['link', 'del', probe], { stdio: 'ignore' })
      return undefined
    },
    async start() {
      await inside('ip', 'link', 'add', tunnel, 'type', 'wireguard')
      return undefined
    },
  },
]

function whatIsMissing(engine: Engine): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux'
  if (process.getuid?.() !== 0) return 'network namespaces need root'
  const command = missingCommand('ip') ?? missingCommand('wg')
  if (command !== undefined) return command
  try {
    execFileSync('ip', ['netns', 'add', `${namespace}p`], { stdio: 'ignore' })
    execFileSync('ip', ['netns', 'del', `${namespace}p`], { stdio: 'ignore' })
  } catch {
    return 'network namespaces cannot be made here'
  }
  return engine.missing()
}

function withReason(engine: Engine) {
  const reason = whatIsMissing(engine)
  if (reason !== undefined) console.log(`skipped: ${engine.name}: ${reason}`)
  return { ...engine, reason }
}

function missingCommand(command: string): string | undefined {
  try {
    execFileSync('which', [command], { stdio: 'ignore' })
    return undefined
  } catch {
    return `${command} is not installed`
  }
}

const inside = (...command: string[]) => run('ip', ['netns', 'exec', namespace, ...command])

for (const { name, reason, start } of engines.map(withReason)) {
  describe.skipIf(reason !== undefined)(`${name}${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
    let daemon: ChildProcess | undefined
    let theirPublicKey: PublicKey
    const opened: WireGuardInterface[] = []
    const sockets: Socket[] = []

    beforeAll(async () => {
      refuseBesideBrowsers()
      await run('ip', ['netns', 'add', namespace])
      await run('ip', ['link', 'add', outerLink, 'type', 'veth', 'peer', 'name', innerLink, 'netns', namespace])
      await run('ip', ['address', 'add', `${ourOuterAddress}/30`, 'dev', outerLink])
      await run('ip', ['link', 'set', outerLink, 'up'])
      await inside('ip', 'address', 'add', `${theirOuterAddress}/30`, 'dev', innerLink)
      await inside('ip', 'link', 'set', innerLink, 'up')
      await inside('ip', 'link', 'set', 'lo', 'up')

      daemon = await start()
      await vi.waitFor(() => inside('wg', 'show', tunnel), WAIT)
      const keys = generateKeyPair()
      await wgSet(['private-key', keyFile, 'listen-port', String(theirPort)], keys.privateKey)
      theirPublicKey = keys.publicKey
      await inside('ip', 'address', 'add', `${theirAddress}/24`, 'dev', tunnel)
      await inside('ip', 'link', 'set', tunnel, 'mtu', '1420', 'up')
    })

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((wireguard) => wireguard.close()))
      for (const socket of sockets.splice(0)) socket.close()
      const { stdout } = await inside('wg', 'show', tunnel, 'peers')
      for (const peer of stdout.split('\n').filter(Boolean)) await wgSet(['peer', peer, 'remove'])
    })

    afterAll(async () => {
      if (daemon?.exitCode === null) {
        const exited = once(daemon, 'exit')
        // `ip netns exec` replaces itself by the command, so this is the pid of wireguard-go.
        daemon.kill('SIGTERM')
        await exited
      }
      await rm(keyFile, { force: true })
      await run('ip', ['link', 'del', outerLink]).catch(() => undefined)
      await run('ip', ['netns', 'del', namespace]).catch(() => undefined)
    })

    /** `wg` opens a key as a file, and a child's standard input, which is a socket here, cannot be opened. */
    async function wgSet(args: string[], key = ''): Promise<void> {
      await writeFile(keyFile, key, { mode: 0o600 })
      await inside('wg', 'set', tunnel, ...args)
      await rm(keyFile)
    }

    /** Our side: one interface that answers pings to `ourAddress` and records everything else. */
    async function openSide({
      privateKey = generateKeyPair().privateKey,
      presharedKey = generatePresharedKey(),
      theirEndpoint = { address: theirOuterAddress, port: theirPort },
      mtu = 1420,
      clock,
    }: {
      privateKey?: PrivateKey
      presharedKey?: PresharedKey
      /** `null`: the other side starts the handshake. */
      theirEndpoint?: Endpoint | null
      mtu?: number
      clock?: () => Now
    } = {}) {
      const echoReplies: Uint8Array[] = []
      const handshakes: PublicKey[] = []
      const drops = new Set<DropReason>()
      const wireguard = await openInterface({
        privateKey,
        host: ourOuterAddress,
        mtu,
        onPacket(packet) {
          if (packet[9] === UDP) wireguard.send(sentBack(packet))
          else echoReplies.push(packet)
        },
        onHandshake: (peer) => handshakes.push(peer),
        onDrop: (reason) => drops.add(reason),
        ...(clock === undefined ? {} : { clock }),
      })
      opened.push(wireguard)
      wireguard.addPeer({
        publicKey: theirPublicKey,
        presharedKey,
        allowedIps: [`${theirAddress}/32`],
        ...(theirEndpoint === null ? {} : { endpoint: theirEndpoint }),
      })
      return { wireguard, presharedKey, privateKey, echoReplies, handshakes, drops }
    }

    /**
     * A relay between both sides that loses a fifth of the datagrams, duplicates a tenth and delays a tenth by 5 ms.
     */
    async function openRelay(): Promise<{ endpoint: Endpoint }> {
      const [ours, theirs] = [createSocket('udp4'), createSocket('udp4')]
      let ourPort = 0
      // A seed that lets the first handshake through, which spares waiting 5 s for the next.
      let random = 8
      const pass = (send: () => void) => {
        random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fffffff
        const fate = (random >> 8) % 10
        if (fate < 2) return
        if (fate === 2) send()
        // A datagram delayed beyond the test's end is lost too.
        if (fate === 3) setTimeout(() => sockets.includes(ours) && send(), 5)
        else send()
      }
      ours.on('message', (data, { port }) => {
        ourPort = port
        pass(() => theirs.send(data, theirPort, theirOuterAddress))
      })
      theirs.on('message', (data) => pass(() => ours.send(data, ourPort, ourOuterAddress)))
      for (const socket of [ours, theirs]) {
        sockets.push(socket)
        socket.bind(0, ourOuterAddress)
        await once(socket, 'listening')
      }
      return { endpoint: { address: ourOuterAddress, port: ours.address().port } }
    }

    async function addOurPeer(side: { wireguard: WireGuardInterface; presharedKey: string }, args: string[] = []) {
      const { publicKey } = side.wireguard
      await wgSet(
        ['peer', publicKey, 'preshared-key', keyFile, 'allowed-ips', `${ourAddress}/32`, ...args],
        side.presharedKey,
      )
    }

    const ourEndpoint = (wireguard: WireGuardInterface) => ['endpoint', `${ourOuterAddress}:${wireguard.port}`]

    /** Sends datagrams from behind wireguard-go to us, one after the other; resolves with the number that came back. */
    async function callUs(datagrams: number, packetBytes = 84, waitMs = 20_000): Promise<number> {
      const args = [ourAddress, datagrams, packetBytes - 28, waitMs].map(String)
      const { stdout } = await inside(process.execPath, '-e', callerSource, ...args)
      return Number(stdout)
    }

    async function pingThem(side: Awaited<ReturnType<typeof openSide>>, size = 84) {
      const before = side.echoReplies.length
      side.wireguard.send(echoRequest(size))
      await vi.waitFor(() => expect(side.echoReplies.length).toBe(before + 1), WAIT)
      return side.echoReplies[before] ?? new Uint8Array()
    }

    /** Fragments that the other side's namespace has sent and reassembled (RFC 4293). */
    async function theirFragments(): Promise<{ made: number; joined: number }> {
      const { stdout } = await inside('cat', '/proc/net/snmp')
      const [names = [], counts = []] = stdout
        .split('\n')
        .filter((line) => line.startsWith('Ip:'))
        .map((line) => line.split(' '))
      const count = (name: string) => Number(counts[names.indexOf(name)])
      return { made: count('FragCreates'), joined: count('ReasmReqds') }
    }

    async function theirEndpointOfUs(): Promise<string> {
      const { stdout } = await inside('wg', 'show', tunnel, 'endpoints')
      return stdout.trim().split('\t')[1] ?? ''
    }

    test('derives the same public key as we do', async () => {
      const { stdout } = await inside('wg', 'show', tunnel, 'public-key')
      expect(stdout.trim()).toBe(theirPublicKey)
    })

    test('answers our initiation, with a preshared key', async () => {
      const side = await openSide()
      await addOurPeer(side)
      const reply = await pingThem(side)
      expect(icmpType(reply)).toBe(ECHO_REPLY)
      expect(Uint8Array.from(reply.subarray(28))).toEqual(echoRequest(84).subarray(28))
      expect(side.handshakes).toEqual([theirPublicKey])
    })

    test('is answered when it initiates, with a preshared key', async () => {
      const side = await openSide({ theirEndpoint: null })
      await addOurPeer(side, ourEndpoint(side.wireguard))
      expect(await callUs(5)).toBe(5)
      expect(side.handshakes).toEqual([theirPublicKey])
      const [status] = side.wireguard.peers()
      expect(status?.endpoint).toEqual({ address: theirOuterAddress, port: theirPort })
    })

    test('no session results from different preshared keys', async () => {
      const side = await openSide()
      await addOurPeer({ ...side, presharedKey: generatePresharedKey() }, ourEndpoint(side.wireguard))
      expect(await callUs(1, 84, 2_000)).toBe(0)
      expect(side.handshakes).toEqual([])
    })

    test('packets of every size up to the MTU pass both ways', async () => {
      const side = await openSide()
      await addOurPeer(side)
      for (const size of [28, 29, 43, 44, 45, 1279, 1280, 1411, 1419, 1420]) {
        expect((await pingThem(side, size)).length).toBe(size)
      }
      expect(await callUs(20, 1420)).toBe(20)
    })

    test('over a link with an MTU of 1280, no datagram of either side is cut into fragments', async () => {
      const setMtu = async (link: number, inner: number) => {
        await run('ip', ['link', 'set', outerLink, 'mtu', String(link)])
        await inside('ip', 'link', 'set', innerLink, 'mtu', String(link))
        await inside('ip', 'link', 'set', tunnel, 'mtu', String(inner))
      }
      // 20 bytes of IPv4, 8 of UDP and 32 of WireGuard.
      const inner = 1280 - 60
      await setMtu(1280, inner)
      try {
        const side = await openSide({ mtu: inner })
        await addOurPeer(side)
        const before = await theirFragments()
        for (const size of [28, 1203, 1216, 1217, 1219, 1220]) {
          expect((await pingThem(side, size)).length).toBe(size)
          expect(await callUs(1, size)).toBe(1)
        }
        expect(await theirFragments()).toEqual(before)
        // Packets larger than the path's MTU arrive too, in fragments.
        await inside('ip', 'link', 'set', tunnel, 'mtu', '1420')
        expect((await pingThem(side, 1420)).length).toBe(1420)
        expect(await theirFragments()).not.toEqual(before)
      } finally {
        await setMtu(1500, 1420)
      }
    })

    test('counts what we count', async () => {
      const side = await openSide()
      await addOurPeer(side)
      for (let i = 0; i < 3; i++) await pingThem(side)
      // A keepalive may be in flight after one side has counted it.
      await vi.waitFor(async () => {
        const [status] = side.wireguard.peers()
        const { stdout } = await inside('wg', 'show', tunnel, 'transfer')
        const [, received, sent] = stdout.trim().split('\t').map(Number)
        expect({ received, sent }).toEqual({ received: status?.sentBytes, sent: status?.receivedBytes })
      }, WAIT)
    })

    test('follows us to another port, and we follow it', async () => {
      const side = await openSide()
      await addOurPeer(side)
      await pingThem(side)
      expect(await theirEndpointOfUs()).toBe(`${ourOuterAddress}:${side.wireguard.port}`)

      await wgSet(['listen-port', String(theirPort + 1)])
      expect(await callUs(2)).toBe(2)
      expect(side.wireguard.peers()[0]?.endpoint?.port).toBe(theirPort + 1)
      await wgSet(['listen-port', String(theirPort)])

      await side.wireguard.close()
      const moved = await openSide({ privateKey: side.privateKey, presharedKey: side.presharedKey })
      await pingThem(moved)
      expect(await theirEndpointOfUs()).toBe(`${ourOuterAddress}:${moved.wireguard.port}`)
    })

    test('renews the session with us when our clock says that it is old, without losing a packet', async () => {
      let aheadMs = 0
      const clock = () => ({ monotonicMs: performance.now() + aheadMs, unixMs: Date.now() + aheadMs })
      const side = await openSide({ clock })
      await addOurPeer(side)
      await pingThem(side)
      for (let round = 2; round <= 4; round++) {
        aheadMs += 121_000
        await pingThem(side)
        await vi.waitFor(() => expect(side.handshakes).toHaveLength(round), WAIT)
        await pingThem(side)
      }
    })

    test('loss, duplication and reordering lose packets but never deliver one twice', async () => {
      const relay = await openRelay()
      const side = await openSide({ theirEndpoint: relay.endpoint })
      await addOurPeer(side)
      const sent = 300
      for (let sequence = 0; sequence < sent; sequence++) {
        side.wireguard.send(echoRequest(84 + sequence))
        await sleep(2)
      }
      // The first initiations may be lost; packets that waited for them leave later.
      await vi.waitFor(() => expect(side.echoReplies.length).toBeGreaterThan(sent / 6), WAIT)
      await sleep(200)
      const lengths = side.echoReplies.map((packet) => packet.length)
      expect(new Set(lengths).size).toBe(lengths.length)
      expect(lengths.length).toBeLessThan(sent)
      expect(side.drops.has('replayed-counter')).toBe(true)
      expect(
        [...side.drops].filter((reason) => reason !== 'replayed-counter' && !harmlessUnderLoss.has(reason)),
      ).toEqual([])
    })

    test('starts over with us when we return after five minutes of sleep', async () => {
      let aheadMs = 0
      const clock = () => ({ monotonicMs: performance.now() + aheadMs, unixMs: Date.now() + aheadMs })
      const side = await openSide({ clock })
      await addOurPeer(side)
      await pingThem(side)
      aheadMs += 300_000
      await pingThem(side)
      expect(side.handshakes).toHaveLength(2)
    })
  })
}

const UDP = 17
/** The drops that a duplicated handshake message and a full queue cause. */
const harmlessUnderLoss = new Set<DropReason>([
  'unexpected-response',
  'queue-full',
  'replayed-initiation',
  'unknown-index',
])

const ECHO_REQUEST = 8
const ECHO_REPLY = 0

/** Sends one datagram at a time and waits for it to come back unchanged. */
const callerSource = `
  const [address, datagrams, size, waitMs] = process.argv.slice(1)
  const socket = require('node:dgram').createSocket('udp4')
  let back = 0, sent = 0, timer
  function next() {
    clearTimeout(timer)
    if (sent === Number(datagrams)) return socket.close(() => console.log(back))
    timer = setTimeout(next, Number(waitMs))
    socket.send(Buffer.alloc(Number(size), ++sent), 7, address)
  }
  socket.on('message', (data) => {
    if (data.equals(Buffer.alloc(Number(size), sent))) { back++; next() }
  })
  next()
`

function icmpType(packet: Uint8Array): number | undefined {
  return packet[9] === 1 ? packet[20] : undefined
}

function echoRequest(length: number): Uint8Array {
  const packet = new Uint8Array(length)
  packet.set([0x45, 0, length >> 8, length & 0xff, 0, 1, 0, 0, 64, 1])
  packet.set(ourAddress.split('.').map(Number), 12)
  packet.set(theirAddress.split('.').map(Number), 16)
  packet.set([ECHO_REQUEST, 0, 0, 0, 0x12, 0x34, 0, 1], 20)
  for (let i = 28; i < length; i++) packet[i] = i
  return withChecksums(packet)
}

/** Swaps source and destination, which keeps the checksum valid. */
function sentBack(datagram: Uint8Array): Uint8Array {
  const answer = datagram.slice()
  answer.set(datagram.subarray(12, 16), 16)
  answer.set(datagram.subarray(16, 20), 12)
  answer.set(datagram.subarray(20, 22), 22)
  answer.set(datagram.subarray(22, 24), 20)
  return answer
}

function withChecksums(packet: Uint8Array): Uint8Array {
  packet.set([0, 0], 10)
  packet.set([0, 0], 22)
  packet.set(checksum(packet.subarray(0, 20)), 10)
  packet.set(checksum(packet.subarray(20)), 22)
  return packet
}

/** RFC 1071 */
function checksum(bytes: Uint8Array): [number, number] {
  let sum = 0
  for (let i = 0; i < bytes.length; i += 2) sum += ((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return [(~sum >> 8) & 0xff, ~sum & 0xff]
}
