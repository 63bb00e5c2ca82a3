/**
 * libc's `recvmmsg`: reads all waiting datagrams of a socket by one call, instead of one call for each with a 64 KiB
 * buffer and a callback. The kernel writes into one ArrayBuffer that lives as long as the process; the data is copied
 * out before other code runs.
 */

import type { Endpoint } from '../outputs.ts'
import { createSlab } from '../slab.ts'
import { MSG_DONTWAIT, openLibc } from './libc.ts'
import { readSocketAddress } from './socket-address.ts'

export type Incoming = { data: Uint8Array; from: Endpoint }

/** The datagrams in order of arrival; empty when none waits, or when the kernel reports an error. Never waits. */
export type ReceiveWaiting = () => Incoming[]

/** Limits of one call, and of all calls before the event loop handles anything else. */
const MAX_TOGETHER = 64
const MAX_IN_TURN = 256

/**
 * Where things lie in the one ArrayBuffer.
 *
 *   offset size 0 64 x 64 mmsghdr: name, name length, iovec, count, control, control length, flags, bytes received
 *   4,096 64 x 16 iovec: slot, length 5,120 64 x 32 sockaddr_in or sockaddr_in6 8,192 64 x 67,584 slots: 64 KiB, which
 *   no UDP datagram exceeds, and 2 KiB by which they keep out of each other's way in the caches
 */
const HEADER_BYTES = 64
/** The header's length in words of 32 bits. */
const HEADER_WORDS = HEADER_BYTES / 4
const NAME_LENGTH = 2
const RECEIVED = 14
const IOVEC_AT = 4_096
const IOVEC_BYTES = 16
const NAME_AT = 5_120
const NAME_BYTES = 32
const SLOT_AT = 8_192
const SLOT_BYTES = 65_536
const SLOT_STEP = SLOT_BYTES + 2_048
/** Small, because a packet that is kept keeps its whole block. */
const BLOCK_BYTES = 16_384

/** One for the process, because the memory behind its pointers must never be freed. */
let opened: { receive: ((descriptor: number, count: number) => Incoming[]) | undefined } | undefined

/**
 * For a socket of this process by its file descriptor, to be called in its 'message' event until it is closed.
 * Undefined where libc cannot be reached.
 */
export function openReceiveWaiting(descriptor: number): ReceiveWaiting | undefined {
  opened ??= { receive: open() }
  const { receive } = opened
  if (receive === undefined) return undefined
  let receivedInTurn = 0

  return () => {
    const count = Math.min(MAX_TOGETHER, MAX_IN_TURN - receivedInTurn)
    if (count === 0) return []
    const datagrams = receive(descriptor, count)
    if (datagrams.length > 0 && receivedInTurn === 0) setImmediate(() => (receivedInTurn = 0))
    receivedInTurn += datagrams.length
    return datagrams
  }
}

function open(): ((descriptor: number, count: number) => Incoming[]) | undefined {
  const libc = openLibc()
  if (libc === undefined) return undefined
  const { buffer, address } = libc.memory(SLOT_AT + MAX_TOGETHER * SLOT_STEP)
  const bytes = new Uint8Array(buffer)
  const words = new Uint32Array(buffer)
  const view = new DataView(buffer)
  // Not zeroed first: a datagram is written over every byte of its piece.
  const slab = createSlab(BLOCK_BYTES, (length) => new Uint8Array(Buffer.allocUnsafeSlow(length).buffer))
  for (let i = 0; i < MAX_TOGETHER; i++) {
    const header = i * HEADER_BYTES
    const iovec = IOVEC_AT + i * IOVEC_BYTES
    view.setBigUint64(header, address + BigInt(NAME_AT + i * NAME_BYTES), true)
    view.setBigUint64(header + 16, address + BigInt(iovec), true)
    view.setBigUint64(header + 24, 1n, true)
    view.setBigUint64(iovec, address + BigInt(SLOT_AT + i * SLOT_STEP), true)
    view.setBigUint64(iovec + 8, BigInt(SLOT_BYTES), true)
  }
  let last = { name: new Uint32Array(), endpoint: { address: '', port: 0 } }

  /** Mostly the same one again, whose text is known. */
  function senderAt(at: number, length: number): Endpoint {
    const from = at / 4
    const to = from + length / 4
    let word = from
    while (word < to && words[word] === last.name[word - from]) word++
    if (word < to || length / 4 !== last.name.length)
      last = { name: words.slice(from, to), endpoint: readSocketAddress(view, at) }
    return last.endpoint
  }

  return (descriptor, count) => {
    for (let i = 0; i < count; i++) words[i * HEADER_WORDS + NAME_LENGTH] = NAME_BYTES
    const received = libc.recvmmsg(descriptor, address, count, MSG_DONTWAIT, 0n)
    const datagrams: Incoming[] = []
    for (let i = 0; i < received; i++) {
      const header = i * HEADER_WORDS
      const slot = SLOT_AT + i * SLOT_STEP
      const length = words[header + RECEIVED]!
      const data = slab.cut(length)
      data.set(bytes.subarray(slot, slot + length))
      datagrams.push({ data, from: senderAt(NAME_AT + i * NAME_BYTES, words[header + NAME_LENGTH]!) })
    }
    return datagrams
  }
}
