/**
 * Addresses on the Internet, for calls to hosts that somebody else names: without this, a browser could make the hub
 * call a machine of its own network. The check is of the address that is dialled, so a name that changes its address
 * between a check and the call gains nothing.
 */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** IANA's special-purpose registries (RFC 6890). */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
/**
 * These are parts of global unicast, 2000::/3; no address outside it is public. Teredo and 6to4 carry IPv4 addresses.
 */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const special = blockListOf([...SPECIAL_IPV4, ...SPECIAL_IPV6])
const globalUnicast = blockListOf(['2000::/3'])

/** The name or address, without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()

export class NotPublic extends Error {}

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address)
  return family === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** False for an address that is not public. A name is looked up when it is dialled. */
export const mayBePublic = (host: string): boolean => isIP(host) === 0 || isPublicAddress(host)

/** The option of a connection to a host that somebody else names. Throws `NotPublic`: Node looks up only names. */
export function publicOnly(host: string): { lookup: LookupFunction } {
  if (!mayBePublic(host)) throw new NotPublic(`${host} is not on the Internet`)
  return { lookup: lookupPublic }
}

/** For `request`'s option `lookup`: the public addresses of a name, or `NotPublic`. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '')
    const found = addresses.filter(({ address }) => isPublicAddress(address))
    const [first] = found
    if (!first) return callback(new NotPublic(`${hostname} is not on the Internet`), '')
    if (options.all) callback(null, found)
    else callback(null, first.address, first.family)
  })
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
