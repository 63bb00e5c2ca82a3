import * as contract from '@hedgerow/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Caller, Sessions } from '../access/sessions.ts'
import type { Tables } from '../database/tables.ts'
import { findVisibleGateway } from '../fleet/fleet.ts'
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
  async function find(caller: Caller, { id, detectionId }: { id: string; detectionId: string }) {
    const gateway = await findVisibleGateway(db, caller, id)
    const row = await db
      .selectFrom('detections')
      .select('id')
      .where('gateway_id', '=', gateway.id)
      .where('id', '=', detectionId)
      .executeTakeFirst()
    if (!row) throw new HubError('detection_not_found')
    requireVpn(vpn)
    if (gateway.kind !== 'enrolled') throw new HubError('gateway_takes_no_commands')
    return gateway
  }

  async function sendClip(
    caller: Caller,
    asked: { id: string; detectionId: string },
    { raw, reply }: { raw: FastifyRequest; reply: FastifyReply },
  ) {
    const signal = leftSignal(reply)
    const gateway = await find(caller, asked)
    const mayStillSee = async (now: Caller) => Boolean(await findVisibleGateway(db, now, gateway.id))
    raw.allowance = { caller, role: 'user', mayStillSee }
    const { range } = raw.headers
    const { status, headers, body } = await clips.open(gateway, asked.detectionId, { range, signal })
    reply.code(status).headers({ ...headers, ...PRIVATE, 'content-disposition': 'inline' })
    reply.type('video/mp4')
    return body
  }

  mount(app, contract.readDetectionSnapshot, async ({ params, query, caller, reply }) => {
    const signal = leftSignal(reply)
    const gateway = await find(caller, params)
    const jpeg = await snapshots.read(
      gateway,
      { detectionId: params.detectionId, boxed: query.boxed === 'true' },
      signal,
    )
    reply.headers({ ...PRIVATE, 'content-disposition': 'inline; filename="snapshot.jpg"' }).type('image/jpeg')
    return jpeg
  })
  mount(app, contract.readDetectionClip, ({ params, caller, raw, reply }) => sendClip(caller, params, { raw, reply }))
  mount(app, contract.createClipLink, async ({ params, caller }) => {
    await find(caller, params)
    const { id: gatewayId, detectionId } = params
    const { link, expiresAt } = clipLinks.make({ gatewayId, detectionId, sessionId: caller.sessionId })
    const path = contract.API_BASE + contract.readClipByLink.path.replace(':link', link)
    return { path, expiresAt: new Date(expiresAt).toISOString() }
  })
  mount(app, contract.readClipByLink, async ({ params, raw, reply }) => {
    const { gatewayId: id, detectionId, sessionId } = clipLinks.find(params.link)
    const caller = await sessions.find(sessionId)
    if (!caller) throw new HubError('session_ended')
    return sendClip(caller, { id, detectionId }, { raw, reply })
  })
}

const PRIVATE = { 'cache-control': 'private, no-store' }

/** Aborted when the browser goes away before the answer is sent. */
function leftSignal(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  reply.raw.once('close', () => left.abort(new Error('nobody waits for the answer')))
  return left.signal
}
