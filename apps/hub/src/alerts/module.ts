/** What people are told of, and over which channels. */
import { randomBytes } from 'node:crypto'
import type { Scope } from '../access/scope.ts'
import type { Proofs } from '../certificates/module.ts'
import { readOrCreateSecret } from '../database/secrets.ts'
import { listIncidentsById } from '../detections/incident-list.ts'
import { testPicture } from '../detections/pictures.ts'
import { readThumbnail } from '../detections/thumbnails.ts'
import { readAutoApproval } from '../enrolment/auto-approval-settings.ts'
import type { App, Gives, Ground } from '../facts/room.ts'
import type { Fleet } from '../fleet/module.ts'
import { delivery, outbox } from '../notifications/followers.ts'
import { createNotifications } from '../notifications/notifications.ts'
import { pushRoutes } from '../notifications/push-routes.ts'
import { createPush } from '../notifications/push-subscriptions.ts'
import { notificationRoutes } from '../notifications/routes.ts'
import { makePushKeys, type PushKeys } from '../notifications/web-push.ts'
import { renewContent } from './contents.ts'
import { alertDelivery, alerts, decidedRequests } from './followers.ts'
import { createAlertLinks, PICTURE_LINK } from './links.ts'
import { lastNoticeAt, putTestNotice } from './notices.ts'
import { languageOf } from './preferences.ts'
import { createProblems } from './problems.ts'
import { alertRoutes } from './routes.ts'
import { createAlertSteps } from './steps.ts'

export type Alerts = Gives<typeof open>

export async function open(hub: Ground & Proofs) {
  const { db, config, portalUrl } = hub
  const key = await readOrCreateSecret(db, 'alert-link-key', () => randomBytes(32).toString('base64'))
  const alertLinks = createAlertLinks({ ...hub, key })
  const pushKeys = await readOrCreateSecret(db, 'push-keys', () => JSON.stringify(makePushKeys()))
  const push = createPush({
    ...hub,
    keys: JSON.parse(pushKeys) as PushKeys,
    hosts: (config.notifications['push'] as { hosts: string[] } | undefined)?.hosts ?? [],
    subject: () => pushSubject(config.contactEmail, portalUrl()),
  })
  const now = { storage: hub.watch, certificates: hub.certificates }
  const readPicture = (gatewayId: string, detectionId: string) => readThumbnail(db, gatewayId, detectionId)
  const notifications = createNotifications({
    ...hub,
    settings: config.notifications,
    async readSwitches(from) {
      const { notificationEnabled, notificationEmail } = await readAutoApproval(from)
      return { enabled: notificationEnabled, email: notificationEmail }
    },
    readPicture: async ({ gatewayId, detectionId }) => (await readPicture(gatewayId, detectionId)).jpeg,
    alertLink: alertLinks.make,
    pictureLink: (link) => alertLinks.make({ ...link, channel: PICTURE_LINK }),
    push,
    testPicture,
    renew: (row) => renewContent(db, row, now),
  })
  const alertSteps = createAlertSteps({ ...hub, notifications, hub: now })
  return {
    gives: { notifications, alertSteps, alertLinks },
    follows: [
      outbox(notifications, languageOf),
      delivery(notifications),
      alerts(notifications),
      alertDelivery(notifications),
      decidedRequests,
    ],
    tasks: [notifications, alertSteps],
    routes(app: App) {
      const listIncidents = (scope: Scope, ids: readonly string[]) => listIncidentsById(db, scope, ids)
      alertRoutes(app, { ...hub, links: alertLinks, readPicture, listIncidents })
      notificationRoutes(app, { ...hub, notifications, portal: { test: putTestNotice, lastAt: lastNoticeAt } })
      pushRoutes(app, { ...hub, push, languageOf: (userId) => languageOf(db, userId) })
    },
  }
}

/** Outages, of which the fleet's statuses tell. */
export function openProblems(hub: Ground & Alerts & Fleet) {
  const camerasOf = (id: string) => hub.heartbeats.latest(id)?.content.cameras ?? []
  const problems = createProblems({ ...hub, camerasOf })
  return { gives: { problems }, tasks: [problems] }
}

/** The contact of this hub's operator for push services: RFC 8292 §2.1. */
function pushSubject(contactEmail: string | undefined, portalUrl: string): string {
  if (contactEmail !== undefined) return `mailto:${contactEmail}`
  return portalUrl.startsWith('https:') ? portalUrl : `mailto:hub@${new URL(portalUrl).hostname}`
}
