/** Who counts as one guesser: an IPv4 address, or the 64 bits that a customer's IPv6 network has at least. */
export function networkOf(sourceIp: string): string {
  if (!sourceIp.includes(':')) return sourceIp
  const [head = '', tail] = sourceIp.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros =
    tail === undefined ? [] : Array.from<string>({ length: Math.max(0, 8 - left.length - right.length) }).fill('0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
