/** Where sites are on a plot with north above, and how far from each other. Pure. */
import type { Site } from '@hedgerow/contract'

/** The width of the plot divided by its height. */
export const ASPECT = 1.5
const EARTH_METRES = 6_371_000
/** The part of the plot between its outermost sites; labels need the rest. */
const USED = 0.6
const SMALLEST_METRES = 100

type Placed = Site & { latitude: number; longitude: number }
/** Percent of the plot, from its left and its top. */
export type Position = { site: Placed; x: number; y: number; nearest: { name: string; metres: number } | undefined }
/** `scale`: a round distance, and its percent of the width. */
export type Plot = { positions: Position[]; scale: { metres: number; percent: number } }

const radians = (degrees: number) => (degrees * Math.PI) / 180
/** Sites on both sides of the date line are neighbours. */
const turned = (degrees: number) => ((((degrees + 180) % 360) + 360) % 360) - 180
const middle = (values: readonly number[]) => (Math.min(...values) + Math.max(...values)) / 2
const extent = (values: readonly number[]) => Math.max(...values) - Math.min(...values)

/** Great-circle distance. */
export function metresBetween(a: Pick<Placed, 'latitude' | 'longitude'>, b: typeof a): number {
  const [north, east] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)]
  const root =
    Math.sin(north / 2) ** 2 + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(east / 2) ** 2
  return 2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(root)))
}

/** The sites that have a place; undefined without one. */
export function plotOf(sites: readonly Site[]): Plot | undefined {
  const placed = sites.filter((site): site is Placed => site.latitude !== null && site.longitude !== null)
  const [first] = placed
  if (first === undefined) return undefined
  const stretch = Math.cos(radians(middle(placed.map(({ latitude }) => latitude))))
  const easts = placed.map(({ longitude }) => radians(turned(longitude - first.longitude)) * stretch * EARTH_METRES)
  const norths = placed.map(({ latitude }) => radians(latitude) * EARTH_METRES)
  const height = Math.max(extent(easts) / ASPECT, extent(norths), SMALLEST_METRES) / USED
  const width = height * ASPECT
  const positions = placed.map((site, index) => ({
    site,
    x: 50 + (100 * (easts[index]! - middle(easts))) / width,
    y: 50 - (100 * (norths[index]! - middle(norths))) / height,
    nearest: nearestTo(site, placed),
  }))
  const metres = roundBelow(width / 4)
  return { positions, scale: { metres, percent: (100 * metres) / width } }
}

function nearestTo(site: Placed, all: readonly Placed[]): Position['nearest'] {
  const others = all.filter(({ id }) => id !== site.id)
  const near = others.map((other) => ({ name: other.name, metres: metresBetween(site, other) }))
  return near.toSorted((a, b) => a.metres - b.metres)[0]
}

/** 1, 2 or 5 times a power of ten. */
function roundBelow(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(metres))
  return power * (metres >= 5 * power ? 5 : metres >= 2 * power ? 2 : 1)
}

/** `350 m`, `4.2 km`, `120 km` */
export function distanceInWords(metres: number): string {
  if (metres < 1_000) return `${Math.round(metres)} m`
  return `${(metres / 1_000).toLocaleString('en', { maximumFractionDigits: metres < 100_000 ? 1 : 0 })} km`
}
