/**
 * Finds devices that can be switched, in the device's own private networks: those that announce themselves, and those
 * that answer at the usual ports. OpenSprinkler announces nothing, and Tasmota nothing unless it was told to
 * (docs/decisions/078-neighbours-are-asked.md). Nothing is switched, and no password is sent.
 */
import { isIn, isPrivateAddress, neighboursOf, ownNetworks, type OwnNetwork } from '../../kernel/own-networks.ts'
import { identify, type Identity } from './identify.ts'
import { knock } from './knock.ts'
import { browseServices, MULTICAST_DNS, type MulticastDns } from './services.ts'

export type FoundDevice = Identity & {
  /** In the form of gateway.yaml. */
  address: string
}

/** Where to look; the device's own private networks and the usual ports when left out. */
export type Surroundings = { networks?: readonly OwnNetwork[]; webPorts?: readonly number[]; dns?: MulticastDns }

const SEARCH_MS = 5_000
/** What is found later has no time to say what it is. */
const LISTEN_MS = 3_000
/** OpenSprinkler's own are 80, and 8080 on a Raspberry Pi. */
const WEB_PORTS = [80, 8080]
const KNOCKS_MAX = 1_024
/** More web interfaces than a site has. */
const CANDIDATES_MAX = 64

export async function findDeterrents(surroundings: Surroundings = {}): Promise<FoundDevice[]> {
  const { networks = privateNetworks(), webPorts = WEB_PORTS, dns = MULTICAST_DNS } = surroundings
  const signal = AbortSignal.timeout(SEARCH_MS)
  const listening = AbortSignal.any([signal, AbortSignal.timeout(LISTEN_MS)])
  const candidates = new Map<string, Promise<Identity | undefined>>()
  const isNear = (host: string) =>
    networks.some((network) => isIn(network, host)) && networks.every(({ address }) => address !== host)

  function look(host: string, port: number): void {
    const address = `http://${host}${port === 80 ? '' : `:${port}`}`
    if (candidates.has(address) || candidates.size >= CANDIDATES_MAX || !isNear(host)) return
    candidates.set(address, identify(address, signal))
  }

  const neighbours = [...new Set(networks.flatMap(neighboursOf))]
  const addresses = webPorts.flatMap((port) => neighbours.map((host) => ({ host, port }))).slice(0, KNOCKS_MAX)
  const from = networks.map(({ address }) => address)
  await Promise.all([
    browseServices({ from, dns, onFound: look, signal: listening }),
    knock({ addresses, onOpen: look, signal: listening }),
  ])
  const found = await Promise.all(
    [...candidates].map(async ([address, identity]) => ({ address, ...(await identity) })),
  )
  return found.filter((one): one is FoundDevice => 'title' in one)
}

function privateNetworks(): OwnNetwork[] {
  return ownNetworks().filter(({ address }) => isPrivateAddress(address))
}
