import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { listIncidents, type Detection } from '@hedgerow/contract'
import { startRenderedCamera } from '../../../apps/gateway/testing/rendered-camera.ts'
import { admit } from '../approval.ts'
import { freeTcpPort } from '../free-ports.ts'
import { applicationsOf } from '../gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { startHub, type Hub } from '../hub.ts'
import { waitFor } from '../wait-for.ts'
import { startPushService } from './push-service.ts'

/** A hub over http and https, and a gateway with a camera, three incidents and the page of a router. */
export type World = {
  hub: Hub
  httpsPort: number
  gateway: TestGateway
  gatewayId: string
  /** Of Firefox's push service. */
  pushUrl: string
  stop(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const life = new AsyncDisposableStack()
  const router = createServer((_req, res) =>
    res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Router</h1>'),
  )
  await new Promise<void>((resolve) => router.listen(0, '127.0.0.1', resolve))
  life.defer(() => {
    router.closeAllConnections()
    router.close()
  })
  const url = `http://127.0.0.1:${(router.address() as AddressInfo).port}`
  const camera = await startRenderedCamera({
    name: 'orchard',
    seed: 41,
    daylight: 'day',
    durationMs: 10_000,
    actors: [],
  })
  life.defer(() => camera.stop())
  const httpsPort = await freeTcpPort()
  const push = await startPushService()
  life.defer(() => push.stop())
  const hub = await startHub({ env: { HUB_HTTPS_PORT: String(httpsPort), ...push.env } })
  life.defer(async () => void (await hub.stop()))
  const gateway = await startGateway(hub, {
    name: 'North orchard',
    file: {
      sources: { api: { loopbackNeedsToken: false }, eye: { cameras: ['orchard'] } },
      cameras: { orchard: { url: camera.mjpegUrl } },
      applications: { router: { url, title: 'Page of the router' } },
    },
  })
  life.defer(() => gateway.stop())
  const gatewayId = await admit(hub)
  await applicationsOf(hub.api, gatewayId)
  await gateway.localApi.reportDetections(await Promise.all(['boar', 'fox', 'deer'].map(seen)))
  await waitFor(async () => (await hub.api(listIncidents)).length === 3, { for: 'the incidents' })
  return { hub, httpsPort, gateway, gatewayId, pushUrl: push.url, stop: () => life.disposeAsync() }
}

/** The first is the newest. */
async function seen(label: string, number: number): Promise<Detection> {
  const picture = await readFile(join(import.meta.dirname, '../../../scripts/demo-frames', `${label}.jpg`))
  return {
    id: label,
    camera: 'orchard',
    label,
    severity: 'alert',
    score: 0.9,
    startedAt: new Date(Date.now() - number * 120_000).toISOString(),
    thumbnail: picture.toString('base64'),
  }
}
