/**
 * Follows the lengths in the fixed headers (MQTT 3.1.1 §2.2.3): the library would buffer a message of up to 256 MB
 * before the caller sees it. False once one is too long.
 */
export function createPacketGuard(maxBytes: number): (bytes: Uint8Array) => boolean {
  let body = 0
  /** Undefined between packets; else the length so far and the weight of its next digit. */
  let header: { length: number; weight: number } | undefined
  return (bytes) => {
    for (let at = 0; at < bytes.length;) {
      if (body > 0) {
        const taken = Math.min(body, bytes.length - at)
        body -= taken
        at += taken
        continue
      }
      const byte = bytes[at++]!
      if (!header) {
        header = { length: 0, weight: 1 }
        continue
      }
      header.length += (byte & 127) * header.weight
      header.weight *= 128
      if (header.length > maxBytes) return false
      if ((byte & 128) === 0) {
        body = header.length
        header = undefined
      } else if (header.weight > 128 ** 3) return false
    }
    return true
  }
}
