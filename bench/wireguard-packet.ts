/** An IPv4 packet with UDP inside. Its checksums are zero: UDP over IPv4 allows that, and no WireGuard checks them. */
export function udpPacket(source: string, destination: string, length: number): Uint8Array {
  const packet = new Uint8Array(length)
  packet.set([0x45, 0, length >> 8, length & 0xff, 0, 0, 0, 0, 64, UDP])
  packet.set(source.split('.').map(Number), 12)
  packet.set(destination.split('.').map(Number), 16)
  packet.set([0x13, 0x37, 0x13, 0x37, (length - 20) >> 8, (length - 20) & 0xff], 20)
  return withHeaderChecksum(packet)
}

const UDP = 17

/** The same packet with source and destination swapped, as an answer has them. */
export function turnedAround(packet: Uint8Array): Uint8Array {
  const answer = Uint8Array.from(packet)
  answer.set(packet.subarray(12, 16), 16)
  answer.set(packet.subarray(16, 20), 12)
  return answer
}

function withHeaderChecksum(packet: Uint8Array): Uint8Array {
  const view = new DataView(packet.buffer)
  let sum = 0
  for (let at = 0; at < 20; at += 2) sum += view.getUint16(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  view.setUint16(10, ~sum & 0xffff)
  return packet
}
