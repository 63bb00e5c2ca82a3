/**
 * The four messages on the wire (§5.4). All integers are little endian. A message is a type byte, three zero bytes and
 * fields at fixed offsets; only transport data has a length of its own.
 */

export const MessageType = { initiation: 1, response: 2, cookieReply: 3, transport: 4 } as const
export type MessageType = (typeof MessageType)[keyof typeof MessageType]

/**
 * Handshake initiation (§5.4.2)
 *
 *   offset size
 *   0      1     type = 1
 *   1      3     reserved, zero
 *   4      4     sender index
 *   8      32    ephemeral, in the clear
 *   40     48    static: AEAD of 32 bytes
 *   88     28    timestamp: AEAD of 12 bytes
 *   116    16    mac1
 *   132    16    mac2
 */
export const Initiation = { size: 148, sender: 4, ephemeral: 8, static: 40, timestamp: 88, mac1: 116 } as const

/**
 * Handshake response (§5.4.3)
 *
 *   offset size
 *   0      1     type = 2
 *   1      3     reserved, zero
 *   4      4     sender index
 *   8      4     receiver index
 *   12     32    ephemeral, in the clear
 *   44     16    empty: AEAD of nothing
 *   60     16    mac1
 *   76     16    mac2
 */
export const Response = { size: 92, sender: 4, receiver: 8, ephemeral: 12, empty: 44, mac1: 60 } as const

/**
 * Cookie reply (§5.4.7)
 *
 *   offset size
 *   0      1     type = 3
 *   1      3     reserved, zero
 *   4      4     receiver index
 *   8      24    nonce
 *   32     32    cookie: XAEAD of 16 bytes
 */
export const CookieReply = { size: 64, receiver: 4, nonce: 8, cookie: 32 } as const

/**
 * Transport data (§5.4.6)
 *
 *   offset size
 *   0      1     type = 4
 *   1      3     reserved, zero
 *   4      4     receiver index
 *   8      8     counter
 *   16     n+16  packet: AEAD of n bytes, n = 0 for a keepalive
 */
export const Transport = { headerSize: 16, minSize: 32, receiver: 4, counter: 8 } as const

/** The type of a datagram whose header and length are those of a message; undefined for anything else. */
export function messageTypeOf(datagram: Uint8Array): MessageType | undefined {
  if (datagram.length < 4 || datagram[1] !== 0 || datagram[2] !== 0 || datagram[3] !== 0) return undefined
  switch (datagram[0]) {
    case MessageType.initiation:
      return datagram.length === Initiation.size ? MessageType.initiation : undefined
    case MessageType.response:
      return datagram.length === Response.size ? MessageType.response : undefined
    case MessageType.cookieReply:
      return datagram.length === CookieReply.size ? MessageType.cookieReply : undefined
    case MessageType.transport:
      return datagram.length >= Transport.minSize ? MessageType.transport : undefined
    default:
      return undefined
  }
}

export function readUint32(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset] ?? 0) |
      ((bytes[offset + 1] ?? 0) << 8) |
      ((bytes[offset + 2] ?? 0) << 16) |
      ((bytes[offset + 3] ?? 0) << 24)) >>>
    0
  )
}

export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value
  bytes[offset + 1] = value >>> 8
  bytes[offset + 2] = value >>> 16
  bytes[offset + 3] = value >>> 24
}

/** Exact up to 2^53; above that the result is rounded, and still above every limit that it is compared with. */
export function readCounter(datagram: Uint8Array): number {
  return readUint32(datagram, Transport.counter) + readUint32(datagram, Transport.counter + 4) * 2 ** 32
}

/** Into a datagram with room for the packet and its tag behind the header. */
export function writeTransportHeader(datagram: Uint8Array, receiverIndex: number, counter: number): void {
  writeUint32(datagram, 0, MessageType.transport)
  writeUint32(datagram, Transport.receiver, receiverIndex)
  writeUint32(datagram, Transport.counter, counter % 2 ** 32)
  writeUint32(datagram, Transport.counter + 4, Math.floor(counter / 2 ** 32))
}
