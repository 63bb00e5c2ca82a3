import { beforeEach, describe, expect, test } from 'vitest'
import { mac1KeyOf, writeMacs } from './cookie.ts'
import type { Crypto } from './crypto.ts'
import { keyBytes } from './keys.ts'
import { nodeCrypto } from './node/crypto.ts'
import { generatePresharedKey } from './node/keys.ts'
import type { Link } from './simulator/link.ts'
import { createLink, downPacket, loseAll, upPacket } from './simulator/link.ts'
import { watchSecrets } from './simulator/secrets.ts'

const SECOND = 1000

/** The state that a device keeps for a peer. */
const ofPeer = { 'private key': 1, 'shared secret': 1, 'mixed in': 1 }
const withSessions = (sessions: number) => ({ ...ofPeer, 'derived key': 2 * sessions })

let presharedKey = generatePresharedKey()
let hub: ReturnType<typeof watchSecrets>
let gateway: ReturnType<typeof watchSecrets>

beforeEach(() => {
  presharedKey = generatePresharedKey()
  hub = watchSecrets()
  gateway = watchSecrets()
})

function watchedLink(handshakesPerSecond = 1e9): Link {
  return createLink({
    hub: { presharedKey },
    gateway: { presharedKey },
    hubOptions: { crypto: hub.crypto, handshakesPerSecond },
    gatewayOptions: { crypto: gateway.crypto },
  })
}

const left = () => ({ hub: hub.left(), gateway: gateway.left() })
const both = <Value>(value: Value) => ({ hub: value, gateway: value })

describe('of what passes through the cryptography, there stays in memory', () => {
  test('while an initiation waits for its answer, its ephemeral key and its state; after 90 s, neither', () => {
    const link = watchedLink()
    link.send(link.gateway, upPacket())
    const waiting = { 'private key': 2, 'shared secret': 1, 'derived key': 1, 'handshake hash': 1 }
    expect(gateway.left()).toEqual(waiting)
    link.advance(10 * SECOND, loseAll)
    expect(gateway.left()).toEqual(waiting)
    link.advance(90 * SECOND, loseAll)
    expect(gateway.left()).toEqual({ 'private key': 1, 'shared secret': 1 })
  })

  test('after a handshake, two session keys on each side', () => {
    watchedLink().connect()
    expect(left()).toEqual(both(withSessions(1)))
  })

  test('however often keys are renewed, those of the last two sessions', () => {
    const link = watchedLink()
    link.connect()
    for (let round = 0; round < 3; round++) {
      link.advance(121 * SECOND, loseAll)
      link.send(link.gateway, upPacket())
      link.deliver(link.wire.splice(0).find(({ data }) => data[0] === 1)!)
      expect(hub.left()).toEqual(withSessions(2))
      link.settle()
      link.send(link.gateway, upPacket())
      link.settle()
      expect(left()).toEqual(both(withSessions(2)))
    }
  })

  test('of a session that its initiator never confirmed, nothing once another takes its place', () => {
    const link = watchedLink()
    link.send(link.gateway, upPacket())
    for (let round = 0; round < 4; round++) {
      link.settle(({ data }) => data[0] !== 1)
      expect(hub.left()).toEqual(withSessions(1))
      link.moveTo(link.now.monotonicMs + 5 * SECOND)
      link.tick(link.gateway)
    }
    expect(link.hub.sent).toHaveLength(4)
  })

  test('when both sides begin at once, at most two sessions', () => {
    const link = watchedLink()
    link.connect()
    link.advance(200 * SECOND)
    for (let round = 0; round < 3; round++) {
      link.send(link.gateway, upPacket())
      link.send(link.hub, downPacket())
      link.settle()
      expect(left()).toEqual(both(withSessions(2)))
      link.advance(121 * SECOND)
    }
  })

  test('540 s after the last session was made, no session key', () => {
    const link = watchedLink()
    link.connect()
    link.advance(540 * SECOND - 1, loseAll)
    expect(left()).toEqual(both(withSessions(1)))
    link.advance(1, loseAll)
    expect(left()).toEqual(both(ofPeer))
  })

  test('of a removed peer, nothing', () => {
    const link = watchedLink()
    link.connect()
    link.hub.device.removePeer(link.gateway.device.publicKey)
    expect(hub.left()).toEqual({ 'private key': 1 })
  })

  test('of a peer that is removed whatever it is about, nothing', () => {
    const link = watchedLink()
    const remove = () => {
      link.hub.device.removePeer(link.gateway.device.publicKey)
      link.gateway.device.removePeer(link.hub.device.publicKey)
      expect(left()).toEqual(both({ 'private key': 1 }))
      link.wire.length = 0
      const { publicKey } = link.hub.device
      link.hub.device.addPeer({ publicKey: link.gateway.device.publicKey, allowedIps: ['10.0.0.2/32'] })
      link.gateway.device.addPeer({ publicKey, allowedIps: ['10.0.0.1/32'], endpoint: link.hub.endpoint })
    }
    // Before the answer; before the confirmation; with two sessions; with two and an initiation under way.
    const lost = [[1], [2], [4], []]
    for (const types of lost) {
      link.send(link.gateway, upPacket())
      link.settle(({ data }) => types.includes(data[0] ?? 0))
      remove()
    }
    for (const isWaiting of [false, true]) {
      link.connect()
      link.moveTo(link.now.monotonicMs + 121 * SECOND)
      link.send(link.gateway, upPacket())
      link.settle()
      if (isWaiting) link.moveTo(link.now.monotonicMs + 121 * SECOND)
      link.send(link.gateway, upPacket())
      expect(gateway.left()['derived key']).toBe(isWaiting ? 5 : 4)
      remove()
    }
  })

  test('of a changed preshared key nothing, and nothing of the sessions that it made', () => {
    const link = watchedLink()
    link.connect()
    const config = { publicKey: link.gateway.device.publicKey, allowedIps: ['10.0.0.2/32'] }
    link.hub.device.updatePeer({ ...config, presharedKey: generatePresharedKey() })
    expect(hub.left()).toEqual({ 'private key': 1, 'shared secret': 1 })
  })

  test('of a preshared key that was configured again, one copy', () => {
    const link = watchedLink()
    link.connect()
    const config = { publicKey: link.gateway.device.publicKey, allowedIps: ['10.0.0.2/32'], presharedKey }
    for (let round = 0; round < 3; round++) {
      link.hub.device.updatePeer(config)
      link.advance(121 * SECOND, loseAll)
      link.send(link.gateway, upPacket())
      link.settle()
      expect(hub.left()['mixed in']).toBe(1)
    }
  })

  test('of a closed device, nothing', () => {
    const link = watchedLink(0)
    link.send(link.gateway, upPacket())
    link.advance(6 * SECOND)
    link.send(link.gateway, upPacket())
    expect(left()).toEqual({
      hub: { ...withSessions(1), 'cookie secret': 1 },
      gateway: { ...withSessions(1), cookie: 1 },
    })
    link.hub.device.close()
    link.gateway.device.close()
    expect(left()).toEqual(both({}))
  })
})

describe('cookies', () => {
  test('the secret that turned after 120 s and the cookie that went stale after 115 s are zeroed', () => {
    const link = watchedLink(0)
    for (let round = 0; round < 3; round++) {
      link.send(link.gateway, upPacket())
      link.settle()
      expect(hub.left()['cookie secret']).toBe(1)
      expect(hub.left().cookie).toBeUndefined()
      expect(gateway.left().cookie).toBe(1)
      link.advance(120 * SECOND, loseAll)
    }
    link.send(link.gateway, upPacket())
    expect(gateway.left().cookie).toBeUndefined()
  })

  test('a cookie that another follows is zeroed', () => {
    const link = watchedLink(0)
    link.send(link.gateway, upPacket())
    for (const port of [1, 2, 3]) {
      link.receive(link.hub, link.wire.shift()!.data, { ...link.gateway.endpoint, port })
      link.receive(link.gateway, link.wire.shift()!.data, link.hub.endpoint)
      expect(gateway.left().cookie).toBe(1)
      link.moveTo(link.now.monotonicMs + 5 * SECOND)
      link.tick(link.gateway)
    }
    expect(link.gateway.drops).toEqual([])
  })
})

describe('a handshake that fails leaves nothing', () => {
  const stranger = { address: '203.0.113.66', port: 666 }
  const LOW_ORDER_POINT = new Uint8Array(32)

  function withMac1(data: Uint8Array, receiver: Link['hub']): Uint8Array {
    const mac1Key = mac1KeyOf(nodeCrypto, keyBytes(receiver.device.publicKey))
    writeMacs(nodeCrypto, data, { mac1Key, cookieKey: mac1Key, sentMac1: undefined, cookie: undefined }, 0)
    return data
  }

  function changedAt(data: Uint8Array, offset: number): Uint8Array {
    const changed = Uint8Array.from(data)
    changed[offset] = (changed[offset] ?? 0) ^ 1
    return changed
  }

  function withEphemeral(data: Uint8Array, offset: number): Uint8Array {
    const changed = Uint8Array.from(data)
    changed.set(LOW_ORDER_POINT, offset)
    return changed
  }

  test.each([
    ['whose ephemeral point is of low order', (data: Uint8Array) => withEphemeral(data, 8), {}],
    ['whose static key does not decrypt', (data: Uint8Array) => changedAt(data, 40), {}],
    // It was calculated for this peer, and stays in it.
    ['whose timestamp does not decrypt', (data: Uint8Array) => changedAt(data, 88), { 'shared secret': 1 }],
  ])('in the responder, by an initiation %s', (_, spoil, ofStaticKeys) => {
    const link = watchedLink()
    link.send(link.gateway, upPacket())
    const before = hub.left()
    link.receive(link.hub, withMac1(spoil(link.wire[0]!.data), link.hub), stranger)
    expect(link.hub.drops).toEqual(['bad-handshake'])
    expect(hub.left()).toEqual({ ...before, ...ofStaticKeys })
  })

  test('in the responder, by an initiation that is one too many or replayed', () => {
    const link = watchedLink()
    link.send(link.gateway, upPacket())
    link.moveTo(link.now.monotonicMs + 5 * SECOND)
    link.tick(link.gateway)
    const [first, second] = link.wire.splice(0)
    link.deliver(first!)
    const before = hub.left()
    link.deliver(second!)
    link.moveTo(link.now.monotonicMs + SECOND)
    link.deliver(first!)
    expect(link.hub.drops).toEqual(['initiation-flood', 'replayed-initiation'])
    expect(hub.left()).toEqual(before)
  })

  test('in the responder, by the initiation of a stranger', () => {
    const link = watchedLink()
    link.hub.device.removePeer(link.gateway.device.publicKey)
    const before = hub.left()
    link.send(link.gateway, upPacket())
    link.settle()
    expect(link.hub.drops).toEqual(['unknown-peer'])
    expect(hub.left()).toEqual(before)
  })

  test.each([
    ['whose ephemeral point is of low order', (data: Uint8Array) => withEphemeral(data, 12)],
    ['that does not decrypt', (data: Uint8Array) => changedAt(data, 44)],
  ])('in the initiator, by a response %s', (_, spoil) => {
    const link = watchedLink()
    link.send(link.gateway, upPacket())
    link.deliver(link.wire.shift()!)
    const before = gateway.left()
    link.receive(link.gateway, withMac1(spoil(link.wire[0]!.data), link.gateway), stranger)
    expect(link.gateway.drops).toEqual(['bad-handshake'])
    // The preshared key was used, and stays in the peer.
    expect({ ...gateway.left(), 'mixed in': 1 }).toEqual({ ...before, 'mixed in': 1 })
  })

  test('in either role, when an ephemeral key of ours makes an all-zero secret', () => {
    /** No such pair can be made, so the Diffie-Hellman of ephemeral keys pretends to have found one. */
    const refusing = (crypto: Crypto): Crypto => {
      const ephemeral = new Set<Uint8Array>()
      return {
        ...crypto,
        generate() {
          const pair = crypto.generate()
          ephemeral.add(pair.privateKey)
          return pair
        },
        dh: (privateKey, publicKey) => {
          const shared = crypto.dh(privateKey, publicKey)
          if (!ephemeral.has(privateKey)) return shared
          shared?.fill(0)
          return undefined
        },
      }
    }
    const initiator = createLink({ gatewayOptions: { crypto: refusing(gateway.crypto) } })
    initiator.send(initiator.gateway, upPacket())
    expect(initiator.wire).toEqual([])
    expect(gateway.left()).toEqual({ 'private key': 1, 'shared secret': 1 })
    const responder = createLink({ hubOptions: { crypto: refusing(hub.crypto) } })
    responder.send(responder.gateway, upPacket())
    responder.settle()
    expect(responder.hub.drops).toEqual(['bad-handshake'])
    expect(hub.left()).toEqual({ 'private key': 1, 'shared secret': 1 })
  })
})
