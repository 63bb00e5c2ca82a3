/** libc's `sendmsg` with UDP_SEGMENT; the data is copied into its memory first. */

import { MSG_DONTWAIT, openLibc } from './libc.ts'

const SOL_UDP = 17
const UDP_SEGMENT = 103

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
/** Without the padding after its two bytes. */
const CONTROL_LENGTH = 18
const PAYLOAD_AT = 256

/** The most bytes of one call (UDP over IPv4). */
export const MAX_BYTES = 65_507

/**
 * Sends the pieces, each as long as the first but for a shorter last, to `name`; whether the kernel took them. At most
 * MAX_BYTES together.
 */
export type SendSegments = (descriptor: number, name: Uint8Array, pieces: readonly Uint8Array[]) => boolean

/** One for the process, because the memory behind its pointers must never be freed. */
let opened: { sendSegments: SendSegments | undefined } | undefined

/** Undefined where libc cannot be reached. */
export function sendSegments(): SendSegments | undefined {
  opened ??= { sendSegments: open() }
  return opened.sendSegments
}

function open(): SendSegments | undefined {
  const libc = openLibc()
  if (libc === undefined) return undefined
  const { buffer, address } = libc.memory(PAYLOAD_AT + MAX_BYTES)
  const bytes = new Uint8Array(buffer)
  const view = new DataView(buffer)
  const point = (at: number, target: number): void => view.setBigUint64(at, address + BigInt(target), true)
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
    return libc.sendmsg(descriptor, address, MSG_DONTWAIT) >= 0n
  }
}
