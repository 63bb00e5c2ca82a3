import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'
import { rememberedByName } from '@hedgerow/http'

/** Finds the address that a request came from. */
export type SourceAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string

/**
 * The socket's address or, when that is a trusted proxy's, the rightmost address of `X-Forwarded-For` that is not a
 * trusted proxy: addresses further left are the client's own claims. `trustedProxies` are valid addresses and CIDR
 * ranges. An entry that names no address ends the search; `onOddEntry` is called with the first one.
 */
export function createSourceAddress(
  trustedProxies: readonly string[],
  onOddEntry: (entry: string, proxy: string) => void = () => {},
): SourceAddress {
  const isTrusted = createTrust(trustedProxies)
  let hasBeenOdd = false

  return (request) => {
    let address = canonicalAddress(request.socket.remoteAddress ?? '') ?? ''
    const forwarded = request.headers['x-forwarded-for']
    // A list may have empty entries (RFC 9110 §5.6.1).
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? ''))
      .split(',')
      .filter((hop) => hop.trim())
    while (address && hops.length > 0 && isTrusted(address)) {
      const entry = hops.pop()!.trim()
      const hop = addressOfHop(entry)
      if (!hop) {
        if (!hasBeenOdd) onOddEntry(entry, address)
        hasBeenOdd = true
        break
      }
      address = hop
    }
    return address
  }
}

/**
 * The address in an entry of `X-Forwarded-For`. Proxies write it alone, with brackets, with a port, or in quotes as a
 * node of `Forwarded` (RFC 7239 §6): `203.0.113.9:4711`, `[2001:db8::9]`, `"[2001:db8::9]:4711"`.
 */
function addressOfHop(entry: string): string | undefined {
  const node = /^"(.*)"$/.exec(entry)?.[1] ?? entry
  const [, bracketed, dotted] = /^(?:\[(.*)\]|([\d.]+))(?::\d{1,5})?$/.exec(node) ?? []
  return canonicalAddress(bracketed ?? dotted ?? node)
}

/** Whether an address, in any spelling, belongs to a trusted proxy. */
export function createTrust(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const entry of trustedProxies) {
    const [address = '', prefix] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    trusted.addSubnet(address, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family)
  }
  return rememberedByName((text) => {
    const address = canonicalAddress(text)
    return address !== undefined && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  })
}

/** One spelling for each address: lower case, zeros shortened, without a zone, and `::ffff:a.b.c.d` as `a.b.c.d`. */
export const canonicalAddress = rememberedByName((text): string | undefined => {
  const bare = text.split('%', 1)[0] ?? ''
  const version = isIP(bare)
  if (version === 0) return undefined
  if (version === 4) return bare
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return mapped ?? address
})
