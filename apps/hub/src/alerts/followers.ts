/** Alerts: announces to the alert rules what a fact reports, in the fact's transaction. */
import type { Fact } from '@hedgerow/contract'
import { clearDecided, report, type Occurrence } from './alerts.ts'
import type { CommitFollower, TransactionFollower } from '../facts/facts.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { from, HOLDS_DE, STORAGE_DE } from './alert-words.ts'

const HOUR_MS = 3_600_000

const kinds = [
  'detection.reported',
  'deterrent.failed',
  'storage.low',
  'registration.pending',
  'registration.held',
  'certificate.expiring',
  'backup.failed',
] as const
type Kind = (typeof kinds)[number]

export function alerts(notifications: Pick<Notifications, 'announce' | 'waitsUnder'>): TransactionFollower<Kind> {
  return {
    name: 'alerts',
    kinds,
    async inTransaction(transaction, facts) {
      await report(transaction, facts.filter(isReport).flatMap(incidentsOf), notifications)
      for (const fact of facts) if (!isReport(fact)) await report(transaction, [thingOf(fact)], notifications)
    },
  }
}

type Report = Fact<'detection.reported'>

const isReport = (fact: Fact<Kind>): fact is Report => fact.kind === 'detection.reported'

function incidentsOf({ at, gatewayId = '', data: { gatewayName, incidents } }: Report): Occurrence[] {
  return incidents.map(({ id, label, camera, coverId, startedAt, severity, isValidated }) => ({
    at,
    line: { kind: 'detection', id, gatewayId, gatewayName, camera, label, detail: '', coverId, startedAt },
    once: id,
    severity,
    isValidated,
  }))
}

type AlertKind = Exclude<Kind, 'detection.reported'>

/** Repeated problems are announced once an hour. */
const things: { readonly [K in AlertKind]: (fact: Fact<K>, line: HubLine, hour: number) => Omit<Occurrence, 'at'> } = {
  'deterrent.failed': ({ gatewayId = '', data }, line, hour) => ({
    line: {
      ...line,
      kind: 'deterrent-failed',
      gatewayId,
      gatewayName: data.gatewayName,
      label: data.deterrent,
      detail: data.message,
    },
    once: `deterrent ${gatewayId} ${data.deterrent} ${hour}`,
  }),
  'storage.low': ({ data }, line, hour) => ({
    line: { ...line, kind: 'disk', label: '', detail: { en: data.message, de: STORAGE_DE[data.state] } },
    once: `storage ${hour}`,
  }),
  'registration.pending': ({ at, actor, data }, line) => ({
    line: { ...line, kind: 'approval', label: data.deviceName, detail: from(actor.sourceIp ?? '') },
    once: `request ${line.id} ${Math.floor(at)}`,
  }),
  'registration.held': ({ at, data }, line) => ({
    line: {
      ...line,
      kind: 'approval',
      label: data.deviceName,
      detail: { en: data.reason, de: HOLDS_DE[data.waitsFor] },
    },
    once: `request ${line.id} ${Math.floor(at)}`,
  }),
  'certificate.expiring': ({ data }, line) => ({
    line: { ...line, kind: 'certificate', label: data.name, detail: data.expiresAt.slice(0, 10) },
    once: `certificate ${line.id} ${data.expiresAt}`,
  }),
  'backup.failed': ({ data }, line, hour) => ({
    line: { ...line, kind: 'backup', label: '', detail: data.message },
    once: `backup ${hour}`,
  }),
}

type HubLine = Omit<Occurrence['line'], 'kind' | 'label' | 'detail'>

function thingOf<K extends AlertKind>(fact: Fact<K>): Occurrence {
  const { at, target = '' } = fact
  const line = { id: target, gatewayId: '', gatewayName: '', camera: '', coverId: null, startedAt: at }
  const describe = things[fact.kind as K] as (fact: Fact<K>, line: HubLine, hour: number) => Omit<Occurrence, 'at'>
  return { ...describe(fact, line, Math.floor(at / HOUR_MS)), at }
}

const DECISIONS = [
  'gateway.approved',
  'gateway.rekeyed',
  'registration.rejected',
  'registration.source-rejected',
] as const

export const decidedRequests: TransactionFollower<(typeof DECISIONS)[number]> = {
  name: 'decided-requests',
  kinds: DECISIONS,
  async inTransaction(transaction, [fact]) {
    if (fact) await clearDecided(transaction, fact.at)
  },
}

export function alertDelivery({ wake }: Pick<Notifications, 'wake'>): CommitFollower<Kind> {
  return {
    name: 'alert-delivery',
    kinds,
    stage: 'notify',
    afterCommit: (facts) => {
      if (facts.some((fact) => fact.kind !== 'detection.reported' || fact.data.incidents.length > 0)) wake()
    },
  }
}
