import * as contract from '@hedgerow/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { findGateway, type VisibleGateway } from '../access/objects.ts'
import { scopeOf, type Scope } from '../access/scope.ts'
import type { Caller, Sessions } from '../access/sessions.ts'
import type { Tables } from '../database/tables.ts'
import { requireDoor } from '../gateway-door/gateway-door.ts'
import { mount } from '../http/mount.ts'
import { HubError } from '../kernel/hub-error.ts'
import { requireVpn, type Vpn } from '../tunnel/tunnel.ts'
import type { ClipLinks } from './clip-links.ts'
import type { Clips } from './clips.ts'
import type { Snapshots } from './snapshots.ts'

type Dependencies = {
  db: Kysely<Tables>
  vpn: Vpn
  snapshots: Snapshots
  clips: Clips
  clipLinks: ClipLinks
  sessions: Pick<Sessions, 'find'>
}

/** Snapshots and clips of detections, for people who see their gateway, from the gateway itself. */
export function detectionPictureRoutes(app: FastifyInstance, dependencies: Dependencies): void {
  const { db, vpn, snapshots, clips, clipLinks, sessions } = dependencies

  /** Gateways are asked only about detections that the hub knows. */
  async function requireDetection(gateway: VisibleGateway, detectionId: string): Promise<void> {
    const row = await db
      .selectFrom('detections')
      .select('id')
      .where('gateway_id', '=', gateway.id)
      .where('id', '=', detectionId)
      .executeTakeFirst()
    if (!row) throw new HubError('detection_not_found')
  }

  async function sendClip(
    caller: Caller,
    { gateway, detectionId }: { gateway: VisibleGateway; detectionId: string },
    { raw, reply }: { raw: FastifyRequest; reply: FastifyReply },
  ) {
    const signal = leftSignal(reply)
    await requireDetection(gateway, detectionId)
    const mayStillSee = async (now: Scope) => Boolean(await findGateway(db, now, gateway.id))
    raw.allowance = { caller, capability: { gateway: 'see' }, mayStillSee }
    const { range } = raw.headers
    const { status, headers, body } = await clips.open(gateway, detectionId, { range, signal })
    reply.code(status).headers({ ...headers, ...PRIVATE, 'content-disposition': 'inline' })
    reply.type('video/mp4')
    return body
  }

  mount(app, contract.readDetectionSnapshot, async ({ gateway, params, query, reply }) => {
    const signal = leftSignal(reply)
    await requireDetection(gateway, params.detectionId)
    const jpeg = await snapshots.read(
      gateway,
      { detectionId: params.detectionId, boxed: query.boxed === 'true' },
      signal,
    )
    reply.headers({ ...PRIVATE, 'content-disposition': 'inline; filename="snapshot.jpg"' }).type('image/jpeg')
    return jpeg
  })
  mount(app, contract.readDetectionClip, ({ gateway, params: { detectionId }, caller, raw, reply }) =>
    sendClip(caller, { gateway, detectionId }, { raw, reply }),
  )
  mount(app, contract.createClipLink, async ({ gateway, params: { detectionId }, caller }) => {
    await requireDetection(gateway, detectionId)
    requireVpn(vpn)
    requireDoor(gateway)
    const { link, expiresAt } = clipLinks.make({ gatewayId: gateway.id, detectionId, sessionId: caller.sessionId })
    const path = contract.API_BASE + contract.readClipByLink.path.replace(':link', link)
    return { path, expiresAt: new Date(expiresAt).toISOString() }
  })
  mount(app, contract.readClipByLink, async ({ params, raw, reply }) => {
    const { gatewayId, detectionId, sessionId } = clipLinks.find(params.link)
    const caller = await sessions.find(sessionId)
    if (!caller) throw new HubError('session_ended')
    const gateway = await findGateway(db, scopeOf(caller), gatewayId)
    return sendClip(caller, { gateway, detectionId }, { raw, reply })
  })
}

const PRIVATE = { 'cache-control': 'private, no-store' }

/** Aborted when the browser goes away before the answer is sent. */
function leftSignal(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  reply.raw.once('close', () => left.abort(new Error('nobody waits for the answer')))
  return left.signal
}
