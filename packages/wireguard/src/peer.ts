/** The device's state of one peer: identity, endpoint, three sessions, handshake and deadlines. */

import { NEVER } from './constants.ts'
import { eraseCookie } from './cookie.ts'
import type { Slot } from './deadlines.ts'
import { NOT_IN_HEAP } from './deadlines.ts'
import type { PendingInitiation, RemoteIdentity } from './handshake.ts'
import { eraseInitiation } from './handshake.ts'
import type { PublicKey } from './keys.ts'
import type { Endpoint } from './outputs.ts'
import type { Session } from './session.ts'
import { eraseSession } from './session.ts'
import { TIMESTAMP_BYTES } from './tai64n.ts'

export type Peer = RemoteIdentity &
  Slot & {
    publicKey: PublicKey
    /** The source of its last authenticated datagram, else its configured endpoint (§2.1). */
    endpoint: Endpoint | undefined
    persistentKeepaliveMs: number

    /**
     * §6.3: the previous one, the current one, and the one that a responder holds back until the initiator confirms it.
     */
    previous: Session | undefined
    current: Session | undefined
    next: Session | undefined
    pending: PendingInitiation | undefined

    /** Greatest TAI64N received, against replayed initiations. */
    latestTimestamp: Uint8Array
    initiationReceivedAtMs: number
    /** Initiation or response, whichever was last. */
    handshakeSentAtMs: number
    attemptStartedAtMs: number
    hasRenewedForReceiving: boolean

    mac1Key: Uint8Array
    cookieKey: Uint8Array
    /** mac1 of the last handshake message sent, which a cookie reply must be bound to. */
    sentMac1: Uint8Array | undefined
    cookie: { value: Uint8Array; receivedAtMs: number } | undefined

    /** Packets waiting for a session, oldest first. */
    queue: Uint8Array[]

    retransmitAtMs: number
    keepaliveAtMs: number
    needsAnotherKeepalive: boolean
    newHandshakeAtMs: number
    eraseAtMs: number
    persistentAtMs: number
    jitterMs: number

    latestHandshakeAtMs: number | undefined
    receivedBytes: number
    sentBytes: number
  }

export type PeerKeys = Pick<Peer, 'publicKey' | 'publicKeyBytes' | 'presharedKey' | 'mac1Key' | 'cookieKey'>

export function createPeer(keys: PeerKeys): Peer {
  return {
    ...keys,
    staticShared: undefined,
    deadlineMs: NEVER,
    heapIndex: NOT_IN_HEAP,
    endpoint: undefined,
    persistentKeepaliveMs: 0,
    previous: undefined,
    current: undefined,
    next: undefined,
    pending: undefined,
    latestTimestamp: new Uint8Array(TIMESTAMP_BYTES),
    initiationReceivedAtMs: -NEVER,
    handshakeSentAtMs: -NEVER,
    attemptStartedAtMs: -NEVER,
    hasRenewedForReceiving: false,
    sentMac1: undefined,
    cookie: undefined,
    queue: [],
    retransmitAtMs: NEVER,
    keepaliveAtMs: NEVER,
    needsAnotherKeepalive: false,
    newHandshakeAtMs: NEVER,
    eraseAtMs: NEVER,
    persistentAtMs: NEVER,
    jitterMs: 0,
    latestHandshakeAtMs: undefined,
    receivedBytes: 0,
    sentBytes: 0,
  }
}

/** By index. Without a session it names the pending initiation. */
export type Indices = Map<number, { peer: Peer; session: Session | undefined }>

/** Frees a session's index and zeroes its keys (§6.3). */
export function retireSession(indices: Indices, session: Session | undefined): void {
  if (session === undefined) return
  indices.delete(session.localIndex)
  eraseSession(session)
}

export function retirePending(indices: Indices, peer: Peer): void {
  if (peer.pending === undefined) return
  indices.delete(peer.pending.localIndex)
  eraseInitiation(peer.pending)
  peer.pending = undefined
}

/** Erases every ephemeral secret of a peer; its configuration and its counters stay. */
export function erasePeerKeys(indices: Indices, peer: Peer): void {
  retirePending(indices, peer)
  retireSession(indices, peer.previous)
  retireSession(indices, peer.current)
  retireSession(indices, peer.next)
  peer.previous = undefined
  peer.current = undefined
  peer.next = undefined
}

/** For a removed peer: erases the long-lived secrets too. */
export function erasePeer(indices: Indices, peer: Peer): void {
  erasePeerKeys(indices, peer)
  peer.staticShared?.fill(0)
  peer.presharedKey.fill(0)
  eraseCookie(peer)
}

/** The initiator's new session is in use at once: the response confirmed it. */
export function installAsInitiator(indices: Indices, peer: Peer, session: Session): void {
  retireSession(indices, peer.previous)
  if (peer.next === undefined) {
    peer.previous = peer.current
  } else {
    // Both sides initiated at the same time. The other may be sending on the session we answered, so it stays readable.
    retireSession(indices, peer.current)
    peer.previous = peer.next
    peer.next = undefined
  }
  peer.current = session
}

/** The responder's new session sends nothing until its first message arrives (§5.4.5, §6.2). */
export function installAsResponder(indices: Indices, peer: Peer, session: Session): void {
  retireSession(indices, peer.previous)
  peer.previous = undefined
  retireSession(indices, peer.next)
  peer.next = session
}

/**
 * The first message on the session held back. It replaced the previous session when it was made, so nothing is retired.
 */
export function confirmNext(peer: Peer): void {
  peer.previous = peer.current
  peer.current = peer.next
  peer.next = undefined
}
