import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Heartbeat } from '@hedgerow/contract'
import { serveDoor } from '../apps/hub/testing/door.ts'
import { ensureWebBuilt } from '../scripts/web-build.ts'
import { startBrowser } from '../test/harness/browser.ts'
import { freeTcpPort } from '../test/harness/free-ports.ts'
import { startHub } from '../test/harness/hub.ts'
import { joinPlayedGateway } from '../test/harness/played-gateway.ts'
import { enterAs } from '../test/harness/session.ts'
import { heartbeatOf } from './fleet.ts'
import { processorSeconds } from './processor.ts'
import { report } from './report.ts'

const GOAL_PERCENT_OF_A_CORE = 30
const CAMERAS_OF_A_GATEWAY = 8
const HEARTBEAT_MS = 10_000
const FRAME = join(import.meta.dirname, '../scripts/demo-frames/boar.jpg')
/** A busy picture of 1280 x 720: bytes after a JPEG's end marker are ignored by browsers. */
const PICTURE_BYTES = 100_000

/**
 * The hub's processor while one person looks at a wall of cameras: gateways in their tunnels send a picture of 100 kB
 * whenever the hub asks for one. `--cameras 64 --seconds 30`.
 */
export async function benchWall(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { cameras: { type: 'string', default: '64' }, seconds: { type: 'string', default: '30' } },
  })
  const seconds = Number(values.seconds)
  const picture = Buffer.alloc(PICTURE_BYTES)
  readFileSync(FRAME).copy(picture)
  await ensureWebBuilt()
  await using life = new AsyncDisposableStack()
  const metricsPort = await freeTcpPort()
  const hub = await startHub({ env: { HUB_METRICS_PORT: String(metricsPort) } })
  life.defer(() => void hub.stop())
  let pulls = 0
  for (let n = 0; n < Number(values.cameras) / CAMERAS_OF_A_GATEWAY; n += 1) {
    const gateway = await joinPlayedGateway(hub, (stream) => stream.destroy())
    life.defer(() => gateway.stop())
    serveDoor(gateway.peer).onRequest = (_request, response) => {
      pulls += 1
      response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': picture.length }).end(picture)
    }
    let sequence = 0
    const beat = () => gateway.post('/api/v1/gateway/heartbeat', heartbeatWithCameras(++sequence))
    await beat()
    const beats = setInterval(() => void beat(), HEARTBEAT_MS)
    life.defer(() => clearInterval(beats))
  }
  const browser = await startBrowser()
  life.defer(() => browser.close())
  const person = await browser.person({ viewport: { width: 2_560, height: 4_400 } })
  const page = await person.newPage()
  await enterAs(page, hub, hub.admin)

  const idle = await percent(metricsPort, seconds)
  await page.goto(`${hub.url}/cameras`)
  await page
    .getByRole('list', { name: 'Cameras' })
    .getByRole('img')
    .nth(Number(values.cameras) - 1)
    .waitFor()
  const before = pulls
  const looking = await percent(metricsPort, seconds)
  report('wall', {
    'nobody looks': { '% of a core': idle },
    [`a wall of ${values.cameras}`]: {
      '% of a core': looking,
      goal: GOAL_PERCENT_OF_A_CORE,
      'pictures a second': Math.round((pulls - before) / seconds),
    },
  })
}

async function percent(metricsPort: number, seconds: number): Promise<number> {
  const before = await processorSeconds(metricsPort)
  await sleep(seconds * 1_000)
  return Math.round(((await processorSeconds(metricsPort)) - before) * (1_000 / seconds)) / 10
}

function heartbeatWithCameras(sequence: number): Heartbeat {
  const cameras = Array.from({ length: CAMERAS_OF_A_GATEWAY }, (_, n) => ({
    name: `camera-${n}`,
    state: 'online' as const,
    fps: 5,
  }))
  return { ...heartbeatOf(sequence, Date.now()), cameras }
}
