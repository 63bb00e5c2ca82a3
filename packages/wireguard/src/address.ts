/**
 * IP addresses and CIDR prefixes as text, read strictly: decimal octets without leading zeros, no short forms. An
 * address is four bytes or sixteen.
 */

const octet = /^(?:0|[1-9]\d{0,2})$/
const group = /^[0-9a-f]{1,4}$/i

export type Prefix = { address: Uint8Array; length: number }

/** Returns 4 or 16 bytes, or undefined. A zone (`fe80::1%eth0`) is not part of an address. */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

/**
 * `10.0.0.0/8`, `fd00::/8`, or an address alone for its full length. Bits past the length are cleared, as `wg` does.
 */
export function parsePrefix(text: string): Prefix | undefined {
  const [addressText = '', lengthText, rest] = text.split('/')
  const address = parseAddress(addressText)
  if (address === undefined || rest !== undefined) return undefined
  const bits = address.length * 8
  if (lengthText === undefined) return { address, length: bits }
  if (!octet.test(lengthText) || Number(lengthText) > bits) return undefined
  const length = Number(lengthText)
  for (let i = 0; i < address.length; i++) address[i] = (address[i] ?? 0) & maskOfByte(length, i)
  return { address, length }
}

/** The canonical text of a prefix, IPv6 as RFC 5952 writes it. */
export function formatPrefix({ address, length }: Prefix): string {
  return `${formatAddress(address)}/${length}`
}

/** The canonical text of four bytes or sixteen. */
export function formatAddress(address: Uint8Array): string {
  return address.length === 4 ? address.join('.') : formatV6(address)
}

/** The bits of byte `index` that a prefix of `length` bits covers. */
export function maskOfByte(length: number, index: number): number {
  const bits = length - index * 8
  if (bits >= 8) return 0xff
  return bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff
}

function parseV4(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => octet.test(part) && Number(part) <= 255)) return undefined
  return Uint8Array.from(parts, Number)
}

function parseV6(text: string): Uint8Array | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0] ?? '', halves.length === 1)
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 16 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  return Uint8Array.from([...head, ...Array.from({ length: missing }, () => 0), ...tail])
}

/** Groups between colons as bytes. Only the last of an address may be dotted IPv4. */
function parseGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const bytes: number[] = []
  for (const [index, part] of parts.entries()) {
    if (group.test(part)) {
      const value = Number.parseInt(part, 16)
      bytes.push(value >> 8, value & 0xff)
      continue
    }
    const dotted = isEnd && index === parts.length - 1 ? parseV4(part) : undefined
    if (dotted === undefined) return undefined
    bytes.push(...dotted)
  }
  return bytes
}

function formatV6(address: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((address[i * 2] ?? 0) << 8) | (address[i * 2 + 1] ?? 0))
  let start = -1
  let longest = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > longest) {
      start = i
      longest = end - i
    }
  }
  const hex = (part: number[]) => part.map((value) => value.toString(16)).join(':')
  if (start === -1) return hex(groups)
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + longest))}`
}
