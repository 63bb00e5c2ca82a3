/** Inner packets for tests: right headers, and a payload whose bytes differ. */

export function ipv4Packet(source: string, destination: string, length: number): Uint8Array {
  const packet = Uint8Array.from({ length }, (_, i) => i % 251)
  packet[0] = 0x45
  packet[2] = length >> 8
  packet[3] = length & 0xff
  packet.set(source.split('.').map(Number), 12)
  packet.set(destination.split('.').map(Number), 16)
  return packet
}
