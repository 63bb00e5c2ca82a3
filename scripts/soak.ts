import { parseArgs } from 'node:util'
import { bytes } from '../test/soak/bytes.ts'
import { day } from '../test/soak/day.ts'
import { flood } from '../test/soak/flood.ts'
import { kills } from '../test/soak/kills.ts'
import { openSite, type Found, type Site } from '../test/soak/site.ts'
import { standstill } from '../test/soak/standstill.ts'

/** `npm run test:soak`: the tests that take too long for every run; test/system/soak.test.ts is a short form. */
const HELP = `Usage: npm run test:soak -- [part ...] [options]

Parts, all of them unless some are named:
  day           gateways and people for --hours: memory and open files stay flat, nothing is lost
  bytes         --gigabytes through Connect, down and up: memory stays flat
  standstill    the hub's process stands still for --standstill seconds
  flood         --packets a second with a wrong mac1 for --flood seconds: live tunnels lose less than 1 %
  kills         the hub is killed --kills times while people approve

  --gateways N (245)  --people N (10)  --detections N a second (5)  --hours N (8)  --gigabytes N (10)
  --standstill N (240)  --packets N (50000)  --flood N (60)  --kills N (200)  --help
`

const number = (fallback: number) => ({ type: 'string', default: String(fallback) }) as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gateways: number(245),
    people: number(10),
    detections: number(5),
    hours: number(8),
    gigabytes: number(10),
    standstill: number(240),
    packets: number(50_000),
    flood: number(60),
    kills: number(200),
    help: { type: 'boolean', default: false },
  },
})
const gateways = Number(values.gateways)
const FLOODED_GATEWAYS = 20

const parts: Record<string, () => Promise<Found>> = {
  day: () =>
    onSite(gateways, (site) =>
      day(site, {
        people: Number(values.people),
        detectionsPerSecond: Number(values.detections),
        seconds: Number(values.hours) * 3_600,
        judgesMemory: true,
      }),
    ),
  bytes: () => bytes({ megabytes: Number(values.gigabytes) * 1_000, judgesMemory: true }),
  standstill: () => onSite(gateways, (site) => standstill(site, { seconds: Number(values.standstill) })),
  flood: () =>
    onSite(FLOODED_GATEWAYS, (site) =>
      flood(site, {
        packetsPerSecond: Number(values.packets),
        seconds: Number(values.flood),
        judgesLoss: true,
      }),
    ),
  kills: () => kills({ kills: Number(values.kills) }),
}

async function onSite(count: number, part: (site: Site) => Promise<Found>): Promise<Found> {
  await using life = new AsyncDisposableStack()
  return await part(await openSite({ gateways: count }, life))
}

const unknown = positionals.filter((name) => !parts[name])
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `There is no part ${unknown.join(', ')}.\n\n${HELP}` : HELP)
  process.exit(values.help ? 0 : 1)
}
for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
  const { figures, broken } = await parts[name]!()
  console.log(`\n${name}: ${broken.length === 0 ? 'holds' : broken.join('; ')}`)
  console.table(figures)
  if (broken.length > 0) process.exitCode = 1
}
