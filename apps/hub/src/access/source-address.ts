import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'
import { rememberedByName } from '@hedgerow/http'

/** Finds the address that a request came from. */
export type SourceAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string

/**
 * The socket's address or, when that is a trusted proxy's, the rightmost address of `X-Forwarded-For` that is not a
 * trusted proxy: addresses further left are the client's own claims. `trustedProxies` are valid addresses and CIDR
 * ranges.
 */
export function createSourceAddress(trustedProxies: readonly string[]): SourceAddress {
  const isTrusted = createTrust(trustedProxies)

  return (request) => {
    let address = canonicalAddress(request.socket.remoteAddress ?? '') ?? ''
    const forwarded = request.headers['x-forwarded-for']
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
    while (address && hops.length > 0 && isTrusted(address)) {
      const hop = canonicalAddress((hops.pop() ?? '').trim())
      if (!hop) break
      address = hop
    }
    return address
  }
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
