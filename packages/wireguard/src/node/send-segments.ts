/**
 * libc's `sendmsg` with UDP_SEGMENT, through node:ffi. Every pointer given to it leads into one ArrayBuffer that lives as long as the process, what
 * leaves is copied into it, and the call returns before anything else runs: so nothing is pointed at that could be moved or
 * collected.
 */

import { endianness } from 'node:os'
import { parseAddress } from '../address.ts'
import type { Endpoint } from '../outputs.ts'

const AF_INET = 2
const AF_INET6 = 10
const SOL_UDP = 17
const UDP_SEGMENT = 103
const MSG_DONTWAIT = 0x40

/**
 * Where things lie in the one ArrayBuffer.
 *
 *   offset size
 *   0      56   msghdr: name, name length, iovec, count, control, control length, flags
 *   64     16   iovec: payload, length
 *   96     28   sockaddr_in or sockaddr_in6
 *   128    24   cmsghdr: length, level, type, and the size of a segment
 *   256    n    payload
 */
const NAME = { pointer: 0, length: 8 }
const IOVEC = { pointer: 16, count: 24 }
const CONTROL = { pointer: 32, length: 40 }
const IOVEC_AT = 64
const NAME_AT = 96
const CONTROL_AT = 128
const CONTROL_BYTES = 24
/** Without the padding behind its two bytes. */
const CONTROL_LENGTH = 18
const PAYLOAD_AT = 256

/** What one call takes (UDP over IPv4). */
export const MAX_BYTES = 65_507

/** Sends the pieces, each as long as the first but for a shorter last, to `name`; whether the kernel took them. At most MAX_BYTES together. */
export type SendSegments = (descriptor: number, name: Uint8Array, pieces: readonly Uint8Array[]) => boolean

/** One for the process, since the memory behind its pointers must never go. */
let opened: { sendSegments: SendSegments | undefined } | undefined

/** Undefined where the system, the machine or this build of Node has none of it. */
export function sendSegments(): SendSegments | undefined {
  opened ??= { sendSegments: openLibc() }
  return opened.sendSegments
}

function openLibc(): SendSegments | undefined {
  // The layouts above are those of 64-bit Linux, with glibc or musl.
  const isKnown = process.platform === 'linux' && endianness() === 'LE' && /^(x64|arm64)$/.test(process.arch)
  if (!isKnown) return undefined
  try {
    const ffi = quietly(() => process.getBuiltinModule('node:ffi'))
    const { functions } = ffi.dlopen(null, {
      sendmsg: { arguments: ['int32', 'pointer', 'int32'], return: 'int64' },
    })
    const memory = new ArrayBuffer(PAYLOAD_AT + MAX_BYTES)
    const base = ffi.getRawPointer(memory)
    const bytes = new Uint8Array(memory)
    const view = new DataView(memory)
    const point = (at: number, target: number): void => view.setBigUint64(at, base + BigInt(target), true)
    const size = (at: number, length: number): void => view.setBigUint64(at, BigInt(length), true)
    point(NAME.pointer, NAME_AT)
    point(IOVEC.pointer, IOVEC_AT)
    size(IOVEC.count, 1)
    point(CONTROL.pointer, CONTROL_AT)
    size(CONTROL.length, CONTROL_BYTES)
    point(IOVEC_AT, PAYLOAD_AT)
    size(CONTROL_AT, CONTROL_LENGTH)
    view.setInt32(CONTROL_AT + 8, SOL_UDP, true)
    view.setInt32(CONTROL_AT + 12, UDP_SEGMENT, true)

    return (descriptor, name, pieces) => {
      bytes.set(name, NAME_AT)
      view.setUint32(NAME.length, name.length, true)
      view.setUint16(CONTROL_AT + 16, pieces[0]?.length ?? 0, true)
      let end = PAYLOAD_AT
      for (const piece of pieces) {
        bytes.set(piece, end)
        end += piece.length
      }
      size(IOVEC_AT + 8, end - PAYLOAD_AT)
      return functions.sendmsg(descriptor, base, MSG_DONTWAIT) >= 0n
    }
  } catch {
    // A Node that was built without it, or forbids it.
    return undefined
  }
}

/** Node writes to standard error, where a log in JSON may go, that this module may change; the Node that runs this is pinned. */
function quietly<Result>(load: () => Result): Result {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

/** A sockaddr for a socket of `family`; undefined for what only a resolver understands, as an address with a zone. */
export function socketAddress({ address, port }: Endpoint, family: 4 | 6): Uint8Array | undefined {
  const parsed = parseAddress(address)
  if (parsed === undefined || (family === 4 && parsed.length !== 4)) return undefined
  const name = new Uint8Array(family === 4 ? 16 : 28)
  const view = new DataView(name.buffer)
  view.setUint16(0, family === 4 ? AF_INET : AF_INET6, true)
  view.setUint16(2, port)
  if (family === 4) name.set(parsed, 4)
  else if (parsed.length === 16) name.set(parsed, 8)
  // An IPv4 address on a socket of both families (RFC 4291 §2.5.5.2).
  else name.set([0xff, 0xff, ...parsed], 18)
  return name
}
