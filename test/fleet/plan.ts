import { createRandom } from '@hedgerow/vision/rendered'

/** The properties and the events of a simulated gateway; the same for the same seed. Times count from its start. */
export type GatewayPlan = {
  index: number
  name: string
  location: string
  cameras: readonly string[]
  deterrent: string
  /** The source address of everything that it sends; undefined for the machine's own. */
  address: string | undefined
  /** Added to its wall clock. */
  clockErrorMs: number
  /** Its network fails repeatedly. */
  outages: { firstAtMs: number; everyMs: number; lengthMs: number } | undefined
  /** It moves to another address and back, with its sessions. */
  roams: { firstAtMs: number; everyMs: number; address: string | undefined } | undefined
  /** A second device with its keys appears; the address is that device's. */
  clone: { atMs: number; address: string | undefined } | undefined
}

/** Fractions of the fleet, 0 to 1. */
export type Shares = { flapping: number; roaming: number; clockErrors: number; clones: number }

/** An IPv4 network with an address for each; all its addresses have to be this machine's. */
export type Sources = { first: number; size: number }

/** Gateways at one site share an address, as behind a router. */
const GATEWAYS_AT_A_SITE = 25
const CLOCK_ERROR_MAX_MS = 48 * 3_600_000
/** Each use of source addresses gets a quarter of the network. */
const USES = { sites: 0, roaming: 1, clones: 2 } as const
const QUARTERS = 4

const OWNERS = [
  'Ashdown',
  'Birch Hill',
  'Calder',
  'Dunmore',
  'Eastfield',
  'Foxley',
  'Greenbank',
  'Hartwell',
  'Inchmere',
]
const PLACES = ['orchard', 'vineyard', 'nursery', 'game reserve', 'stud farm', 'fishery', 'sawmill', 'solar field']
const CAMERAS = ['gate', 'yard', 'north fence', 'south fence', 'barn', 'stream', 'track', 'ridge']
const DETERRENTS = ['sprinkler', 'siren', 'lamp', 'ultrasound']

export function planFleet(options: {
  /** The number of the first; more than 0 in a part of a larger fleet. */
  first?: number | undefined
  count: number
  seed: number
  shares: Shares
  sources?: Sources | undefined
}) {
  const { first = 0, count, seed, shares, sources } = options
  const addressOf = (use: keyof typeof USES, index: number) => sources && addressIn(sources, USES[use], index)
  return Array.from({ length: count }, (_, offset): GatewayPlan => {
    const index = first + offset
    const site = Math.floor(index / GATEWAYS_AT_A_SITE)
    const ofSite = createRandom(seed + 7_919 * (site + 1))
    const siteName = `${ofSite.pick(OWNERS)} ${ofSite.pick(PLACES)} ${site + 1}`
    // A gateway has random numbers of its own, so that it is the same in a fleet of any size.
    const { next, between, pick } = createRandom(seed * 1_000_003 + index)
    const happens = (share: number) => next() < share
    const cameraCount = Math.floor(between(1, 5))
    const firstCamera = Math.floor(between(0, CAMERAS.length))
    return {
      index,
      name: `${siteName} gateway ${(index % GATEWAYS_AT_A_SITE) + 1}`,
      location: siteName,
      cameras: Array.from({ length: cameraCount }, (_none, i) => CAMERAS[(firstCamera + i) % CAMERAS.length]!),
      deterrent: pick(DETERRENTS),
      address: addressOf('sites', site),
      clockErrorMs: happens(shares.clockErrors) ? Math.round(between(-1, 1) * CLOCK_ERROR_MAX_MS) : 0,
      outages: happens(shares.flapping)
        ? { firstAtMs: between(20_000, 180_000), everyMs: between(120_000, 600_000), lengthMs: between(5_000, 110_000) }
        : undefined,
      roams: happens(shares.roaming)
        ? {
            firstAtMs: between(20_000, 120_000),
            everyMs: between(60_000, 300_000),
            address: addressOf('roaming', index),
          }
        : undefined,
      clone: happens(shares.clones)
        ? { atMs: between(30_000, 90_000), address: addressOf('clones', index) }
        : undefined,
    }
  })
}

/** An IPv4 network in CIDR form with at least 64 addresses; throws an Error in plain words for anything else. */
export function parseSources(text: string): Sources {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text)
  const [, ...numbers] = found?.map(Number) ?? []
  const [a = 0, b = 0, c = 0, d = 0, prefix = 0] = numbers
  if (!found || Math.max(a, b, c, d) > 255 || prefix < 8 || prefix > 26)
    throw new Error(`"${text}" is no network of source addresses: give one of /8 to /26, such as 198.18.0.0/15`)
  const size = 2 ** (32 - prefix)
  const first = ((a * 256 + b) * 256 + c) * 256 + d
  if (first % size !== 0) throw new Error(`${text} does not begin at a multiple of its size`)
  return { first, size }
}

/** In a small network gateways share addresses. The first address is left out. */
function addressIn({ first, size }: Sources, quarter: number, index: number): string {
  const room = size / QUARTERS
  const address = first + quarter * room + 1 + (index % (room - 1))
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}
