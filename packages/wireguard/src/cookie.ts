/**
 * mac1, mac2 and cookies (§5.3, §5.4.4, §5.4.7). mac1 proves that the sender knows this device's public key; it is
 * always checked, before any expensive step. mac2 proves that the sender owns its source address; it is required under
 * load.
 */

import { COOKIE_LATENCY_MS, COOKIE_LIFETIME_MS } from './constants.ts'
import type { Crypto } from './crypto.ts'
import { equalBytes } from './crypto.ts'
import { CookieReply, MessageType, readUint32, writeUint32 } from './messages.ts'
import type { Endpoint } from './outputs.ts'

const MAC_BYTES = 16
const NONCE_BYTES = 24
const SECRET_BYTES = 32

const text = new TextEncoder()
const LABEL_MAC1 = text.encode('mac1----')
const LABEL_COOKIE = text.encode('cookie--')

/** HASH(LABEL-MAC1 || public key of the receiver) */
export function mac1KeyOf(crypto: Crypto, publicKey: Uint8Array): Uint8Array {
  return crypto.hash(LABEL_MAC1, publicKey)
}

/** HASH(LABEL-COOKIE || public key of the sender of the cookie) */
export function cookieKeyOf(crypto: Crypto, publicKey: Uint8Array): Uint8Array {
  return crypto.hash(LABEL_COOKIE, publicKey)
}

/** Both macs end every handshake message, mac2 last. */
const mac1At = (message: Uint8Array) => message.length - 2 * MAC_BYTES
const mac2At = (message: Uint8Array) => message.length - MAC_BYTES

type CookieHolder = {
  mac1Key: Uint8Array
  cookieKey: Uint8Array
  sentMac1: Uint8Array | undefined
  cookie: { value: Uint8Array; receivedAtMs: number } | undefined
}

/** Fills mac1, and mac2 if the peer gave a cookie that is still valid. */
export function writeMacs(crypto: Crypto, message: Uint8Array, peer: CookieHolder, nowMs: number): void {
  const mac1 = crypto.mac(peer.mac1Key, message.subarray(0, mac1At(message)))
  message.set(mac1, mac1At(message))
  peer.sentMac1 = mac1
  if (peer.cookie === undefined) return
  if (nowMs - peer.cookie.receivedAtMs < COOKIE_LIFETIME_MS - COOKIE_LATENCY_MS) {
    message.set(crypto.mac(peer.cookie.value, message.subarray(0, mac2At(message))), mac2At(message))
  } else {
    eraseCookie(peer)
  }
}

export function eraseCookie(peer: CookieHolder): void {
  peer.cookie?.value.fill(0)
  peer.cookie = undefined
}

export function isMac1Right(crypto: Crypto, message: Uint8Array, ownMac1Key: Uint8Array): boolean {
  const expected = crypto.mac(ownMac1Key, message.subarray(0, mac1At(message)))
  return equalBytes(expected, message.subarray(mac1At(message), mac2At(message)))
}

/** Takes the cookie out of a reply to this peer's last handshake message. Each message sent allows one. */
export function readCookieReply(crypto: Crypto, reply: Uint8Array, peer: CookieHolder, nowMs: number): boolean {
  if (peer.sentMac1 === undefined) return false
  const nonce = reply.subarray(CookieReply.nonce, CookieReply.cookie)
  const value = crypto.xopen(peer.cookieKey, nonce, reply.subarray(CookieReply.cookie), peer.sentMac1)
  if (value === undefined) return false
  eraseCookie(peer)
  peer.cookie = { value, receivedAtMs: nowMs }
  peer.sentMac1 = undefined
  return true
}

export type CookieMaker = {
  isMac2Right(message: Uint8Array, from: Endpoint, nowMs: number): boolean
  reply(message: Uint8Array, from: Endpoint, nowMs: number): Uint8Array
  /** Zeroes the secret; the next cookie gets a new one. */
  erase(): void
}

/** The responder's side: cookies are made from a secret that changes every 120 s, and none is stored. */
export function createCookieMaker(crypto: Crypto, ownPublicKey: Uint8Array): CookieMaker {
  const cookieKey = cookieKeyOf(crypto, ownPublicKey)
  let secret: Uint8Array = new Uint8Array(SECRET_BYTES)
  let madeAtMs = Number.NEGATIVE_INFINITY

  function erase(): void {
    secret.fill(0)
    madeAtMs = Number.NEGATIVE_INFINITY
  }

  /** MAC(changing secret, source address and port); the caller zeroes it. */
  function cookieFor(from: Endpoint, nowMs: number): Uint8Array {
    if (nowMs - madeAtMs >= COOKIE_LIFETIME_MS) {
      erase()
      secret = crypto.random(SECRET_BYTES)
      madeAtMs = nowMs
    }
    return crypto.mac(secret, text.encode(`${from.address} ${from.port}`))
  }

  function isMac2Right(message: Uint8Array, from: Endpoint, nowMs: number): boolean {
    const cookie = cookieFor(from, nowMs)
    const expected = crypto.mac(cookie, message.subarray(0, mac2At(message)))
    cookie.fill(0)
    return equalBytes(expected, message.subarray(mac2At(message)))
  }

  /**
   * The receiver index of the reply is the sender index of the message: both handshake messages have it at offset 4.
   */
  function reply(message: Uint8Array, from: Endpoint, nowMs: number): Uint8Array {
    const datagram = new Uint8Array(CookieReply.size)
    datagram[0] = MessageType.cookieReply
    writeUint32(datagram, CookieReply.receiver, readUint32(message, 4))
    const nonce = crypto.random(NONCE_BYTES)
    datagram.set(nonce, CookieReply.nonce)
    const mac1 = message.subarray(mac1At(message), mac2At(message))
    const cookie = cookieFor(from, nowMs)
    datagram.set(crypto.xseal(cookieKey, nonce, cookie, mac1), CookieReply.cookie)
    cookie.fill(0)
    return datagram
  }

  return { isMac2Right, reply, erase }
}
