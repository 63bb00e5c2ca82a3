import { promises as dns, type LookupAddress, type SrvRecord } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

/** The agent's DNS resolver: the device's own name servers, or configured ones in a network with split DNS. */
export type NameService = {
  srv(name: string): Promise<SrvRecord[]>
  /** Every character string of every TXT record; empty when there is none. */
  txt(name: string): Promise<string[]>
  /**
   * All addresses of a host, in the order to try them; for an address, the address itself. Rejects when there is none.
   */
  addresses(host: string): Promise<LookupAddress[]>
  /** Resolves the names of connections; when undefined, the operating system's resolver does. */
  lookup: LookupFunction | undefined
  /** Cancels pending queries. */
  stop(): void
}

/** The limit for one query with all its retries. The operating system's resolver has no deadline. */
const ANSWER_TIMEOUT_MS = 15_000

/** `servers`: addresses, each with or without `:port`; none means those of the operating system. */
export function createNameService(servers: readonly string[]): NameService {
  const resolver = new dns.Resolver({ timeout: 3_000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)

  async function find(host: string): Promise<LookupAddress[]> {
    const family = isIP(host)
    if (family !== 0) return [{ address: host, family }]
    if (servers.length === 0) return dns.lookup(host, { all: true })
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ]
    // Names such as localhost and those of /etc/hosts are known only to this device, not to a name server.
    return found.length > 0 ? found : dns.lookup(host, { all: true })
  }

  const addresses = (host: string) => inTime(find(host), host)

  const lookup: LookupFunction = (host, options, callback) => {
    const answer = (found: LookupAddress[]) =>
      options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)
    const fail = (error: NodeJS.ErrnoException) => callback(error, '')
    void addresses(host).then(answer, fail)
  }

  return {
    srv: (name) => inTime(resolver.resolveSrv(name), name),
    async txt(name) {
      try {
        return (await inTime(resolver.resolveTxt(name), name)).flat()
      } catch (error) {
        if (error instanceof Error && 'code' in error && (error.code === 'ENODATA' || error.code === 'ENOTFOUND'))
          return []
        throw error
      }
    },
    addresses,
    lookup: servers.length > 0 ? lookup : undefined,
    stop: () => resolver.cancel(),
  }
}

function inTime<T>(question: Promise<T>, name: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = Object.assign(new Error(`no DNS answer for ${name} in time`), { code: 'ETIMEOUT' })
  const timer = setTimeout(() => reject(late), ANSWER_TIMEOUT_MS)
  return Promise.race([question, promise]).finally(() => clearTimeout(timer))
}
