import * as contract from '@hedgerow/contract'
import type { Camera, Heartbeat } from '@hedgerow/contract'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'
import type { FastifyInstance } from 'fastify'
import { listGateways, snoozesNow, type ListDependencies } from '../fleet/fleet.ts'
import { mount } from '../http/mount.ts'
import { createLivePictures } from './live-pictures.ts'

const CAMERAS_MAX = 2_000

type Dependencies = {
  door: Parameters<typeof createLivePictures>[0]['door']
  list: ListDependencies
  heartbeats: { latest(gatewayId: string): { content: Heartbeat; at: number } | undefined }
  /** The newest incident of each, in their order. */
  latestIncidents: (cameras: readonly Pick<Camera, 'gatewayId' | 'name'>[]) => Promise<Camera['lastIncident'][]>
}

const byName = (a: { name: string }, b: { name: string }) => byNaturalOrder(a.name, b.name)

/** Cameras of all sites, and their newest pictures. */
export function cameraRoutes(app: FastifyInstance, dependencies: Dependencies): void {
  const { door, list, heartbeats } = dependencies
  const monotonic = () => performance.now()
  const pictures = createLivePictures({ door, monotonic })

  mount(app, contract.listCameras, async ({ scope, reply }) => {
    const cameras: Omit<Camera, 'lastIncident'>[] = []
    const gateways = await listGateways(scope, { ...list, query: {}, reply })
    for (const { id, name: gatewayName, location, site, status } of gateways.toSorted(byName)) {
      const isAway = status === 'offline'
      const latest = heartbeats.latest(id)
      if (!latest) continue
      const { content: heartbeat, at } = latest
      const aheadMs = at - heartbeat.clock
      const snoozes = snoozesNow(latest, list.signals.clock())
      const problems = new Map(heartbeat.cameraProblems?.map(({ camera, problem }) => [camera, problem]))
      for (const camera of heartbeat.cameras.toSorted(byName)) {
        const { name, state, fps } = camera
        cameras.push({
          gatewayId: id,
          gatewayName,
          location,
          site,
          name,
          state: isAway ? 'offline' : state,
          fps,
          problem: isAway ? 'Its gateway is offline.' : (problems.get(name) ?? null),
          protection: contract.protectionOf({
            isOffline: isAway,
            heartbeat: {
              ...heartbeat,
              cameras: [camera],
              snoozes: snoozes.filter((one) => one.camera === null || one.camera === name),
            },
            aheadMs,
          }),
        })
      }
    }
    const shown = cameras.slice(0, CAMERAS_MAX)
    const latest = await dependencies.latestIncidents(shown)
    return shown.map((camera, index) => ({ ...camera, lastIncident: latest[index]! }))
  })

  mount(app, contract.readCameraPicture, async ({ gateway, params, reply }) => {
    const { jpeg, at } = await pictures.read(gateway, params.camera)
    reply.headers({
      'cache-control': 'private, no-store',
      'content-disposition': 'inline',
      [contract.PICTURE_AGE_HEADER]: String(Math.round(monotonic() - at)),
    })
    reply.type('image/jpeg')
    return jpeg
  })
}
