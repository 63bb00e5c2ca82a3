/**
 * Addresses that no application may have: a person who may open an application must not reach services that are for
 * this device only. The dialled address is checked, so a name that changes its address gains nothing.
 */
import { lookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopback, plainAddress } from '../kernel/loopback.ts'

const METADATA = 'a cloud gives the secrets of this machine at such addresses'
const NOBODY = 'no single machine has this address'
const OWN = "it is this device's own interface, which has an origin of its own"

/** Link-local addresses (RFC 3927, RFC 4291) with the metadata services of clouds, and those that others use. */
const metadata = blockListOf(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128', '100.100.100.200/32'])
/** Unspecified, multicast and reserved (RFC 6890): the first leads to this device itself. */
const nobody = blockListOf(['0.0.0.0/8', '224.0.0.0/3', '::/128', 'ff00::/8'])

/** The reason why an application may not have this address and port, in words; undefined when it may. */
export function refusalOf(address: string, port: number, ownPort: number | undefined): string | undefined {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (metadata.check(address, family)) return METADATA
  if (nobody.check(address, family)) return NOBODY
  return port === ownPort && isOwnAddress(address) ? OWN : undefined
}

/** The same for an address as it is written; names are checked when they are looked up. */
export function refusalOfUrl(url: URL, ownPort?: number): string | undefined {
  const host = bareHost(url)
  return isIP(host) === 0 ? undefined : refusalOf(host, portOf(url), ownPort)
}

/** For `connect`'s option `lookup`: the allowed addresses of a name, or an error when there are none. */
export function lookupFor(url: URL, ownPort: () => number | undefined): LookupFunction {
  return (hostname, options, done) =>
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return done(error, '')
      const refusals = addresses.map(({ address }) => refusalOf(address, portOf(url), ownPort()))
      const allowed = addresses.filter((_address, index) => refusals[index] === undefined)
      const [first] = allowed
      if (!first) done(notAllowed(refusals[0] ?? 'the name has no address'), '')
      else if (options.all) done(null, allowed)
      else done(null, first.address, first.family)
    })
}

export function notAllowed(refusal: string): Error {
  return new Error(`it may not be an application: ${refusal}`)
}

/** The host without the brackets of an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

export function portOf({ protocol, port }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

function isOwnAddress(address: string): boolean {
  if (isLoopback(address)) return true
  const plain = plainAddress(address)
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === plain))
}

function blockListOf(subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
