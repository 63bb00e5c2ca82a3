/** Activity: the dashboard's sentence about a fact. A kind without a line here shows none. */
import type { Fact, FactData, FactKind, Gateway, HubSettings } from '@hedgerow/contract'
import { recordActivity, recordCappedActivity, type CappedActivity, type NewActivity } from './activity-entries.ts'
import { CERTIFICATE_NAMES } from '../certificates/certificates.ts'
import type { TransactionFollower } from '../facts/facts.ts'
import { SETTING_LABELS } from '../settings/settings.ts'
import { linkInWords } from '@hedgerow/contract/audit-answers'

/** Time and gateway are the fact's by default. */
type Line = Pick<NewActivity, 'type' | 'message'> & Partial<NewActivity>
type Words<K extends FactKind> = (fact: Fact<K>) => Line | readonly Line[] | undefined

const words: { readonly [K in FactKind]?: Words<K> } = {
  'user.registered': ({ data }) => info(`User "${data.username}" registered as ${data.role}`),
  // The hub creates the first one, before anybody can read activity.
  'user.created': ({ data, actor }) =>
    actor.userId === undefined ? undefined : info(`User "${data.username}" was added by ${actor.name} as ${data.role}`),
  'user.updated': ({ data, actor }) =>
    data.changes.length === 0
      ? undefined
      : info(`User "${data.username}" was ${data.changes.join(', ')} by ${actor.name}`),
  // A password reset by a person is part of user.updated.
  'user.password-reset': ({ data, actor }) =>
    actor.userId === undefined
      ? warning(`User "${data.username}" was given a new password on the hub's command line`)
      : undefined,
  'user.two-factor-reset': ({ data, actor }) =>
    actor.userId === undefined
      ? warning(`Two-factor sign-in of "${data.username}" was reset on the hub's command line`)
      : info(`Two-factor sign-in of "${data.username}" was reset by ${actor.name}`),
  'user.deleted': ({ data, actor }) => info(`User "${data.username}" was deleted by ${actor.name}`),
  'user-invitation.created': ({ data, actor }) =>
    info(`User invitation ${nameOfInvitation(data)} was made by ${actor.name}`),
  'user-invitation.revoked': ({ data, actor }) =>
    info(`User invitation ${nameOfInvitation(data)} was revoked by ${actor.name}`),

  'registration.pending': ({ data, actor }) =>
    info(
      data.keyChangeFor === null
        ? `New gateway "${data.deviceName}" waits for approval, from ${actor.sourceIp}`
        : `Gateway "${data.keyChangeFor.name}" asks to change its keys, from ${actor.sourceIp}`,
    ),
  'registration.held': ({ data, actor }) =>
    warning(`New gateway "${data.deviceName}" waits, from ${actor.sourceIp}: ${data.reason}`),
  'registration.rejected': ({ data, actor }) => warning(`Gateway "${data.deviceName}" was rejected by ${actor.name}`),
  'registration.source-rejected': ({ target, actor, data: { registrationIds } }) => {
    const { length } = registrationIds
    const requests = `${length} ${length === 1 ? 'request' : 'requests'} from ${target}`
    return length === 0 ? undefined : warning(`${requests} were rejected by ${actor.name}`)
  },
  'registration.lifted': ({ data, actor }) => info(`The rejection of "${data.deviceName}" was lifted by ${actor.name}`),
  'auto-approval.changed': ({ actor }) => info(`The auto-approval settings were changed by ${actor.name}`),
  'gateway-invitation.created': ({ data, actor }) =>
    info(`Gateway invitation "${data.label}" was made by ${actor.name}`),
  'gateway-labels.created': ({ data, actor }) =>
    info(`${data.count} ${data.count === 1 ? 'label' : 'labels'} of gateways were made by ${actor.name}`),
  'gateway-invitation.revoked': ({ data, actor }) =>
    info(`Gateway invitation "${data.label}" was revoked by ${actor.name}`),

  'gateway.approved': ({ data, actor }) =>
    success(
      data.rule === null
        ? `Gateway "${data.name}" was approved by ${actor.name}: ${data.address}`
        : `Gateway "${data.name}" was approved automatically, since ${data.rule}: ${data.address}`,
    ),
  'gateway.rekeyed': ({ data, actor }) => success(`New keys of gateway "${data.name}" were approved by ${actor.name}`),
  'gateway.added': ({ data, actor }) => success(`Gateway "${data.name}" was added by ${actor.name}`),
  'gateway.edited': ({ data, actor }) => info(`Gateway "${data.name}" was edited by ${actor.name}`),
  'gateway.renamed': ({ data, actor }) =>
    info(`Gateway "${data.before}" was renamed to "${data.name}" by ${actor.name}`),
  'gateway.site-changed': ({ data, actor }) =>
    info(
      data.site === ''
        ? `Gateway "${data.name}" was taken out of its site by ${actor.name}`
        : `Gateway "${data.name}" was put in the site "${data.site}" by ${actor.name}`,
    ),
  'site.added': ({ target, actor }) => info(`Site "${target}" was added by ${actor.name}`),
  'site.edited': ({ target, actor }) => info(`Site "${target}" was edited by ${actor.name}`),
  'site.renamed': ({ target, data, actor }) =>
    info(`Site "${data.before}" was renamed to "${target}" by ${actor.name}`),
  'site.deleted': ({ target, actor }) => warning(`Site "${target}" was deleted by ${actor.name}`),
  'site.orphaned': ({ target, data }) =>
    warning(
      `No gateway is at site "${target}", which ${namedIn(data)} still ${countOf(data) === 1 ? 'names' : 'name'}`,
    ),
  'gateway.deleted': ({ data, actor }) => warning(`Gateway "${data.name}" was deleted by ${actor.name}`),
  'gateway.claimed': ({ data, actor }) => info(`Gateway "${data.name}" was claimed by ${actor.name}`),
  'gateway.status-changed': ({ data: { name, status, reason } }) => ({
    type: typeOfStatus[status],
    message:
      status === 'warning' ? `Gateway "${name}" has a warning: ${reason}` : `Gateway "${name}" is ${status}: ${reason}`,
  }),
  'detection.reported': ({ data }) =>
    data.alerts.map(({ id, label, camera, startedAt }) => ({
      ...warning(`Alert: ${label} on cam ${camera} (${data.gatewayName})`),
      at: startedAt,
      detectionId: id,
    })),

  // The gateway's own ledger has the entry of what a gateway did.
  'update.ended': ({ data }) =>
    data.state === 'done'
      ? success(`Gateway "${data.gatewayName}" runs version ${data.version}`)
      : warning(`Gateway "${data.gatewayName}" was not updated to ${data.version}: ${data.message}`),
  'rollout.started': ({ data }) => info(`Automatic updates to version ${data.version} began`),
  'rollout.stopped': ({ data }) => warning(`Automatic updates to version ${data.version} stopped: ${data.message}`),
  'rollout.stopped-by-hand': ({ data, actor }) =>
    info(`Automatic updates to version ${data.version} were stopped by ${actor.name}`),
  'rollout.held': ({ data }) => warning(`Automatic updates to version ${data.version} wait: ${data.message}`),
  'update.skipped': ({ data, actor }) =>
    info(`Gateway "${data.gatewayName}" was skipped by ${actor.name}: automatic updates do not wait for it`),
  'rollout.resumed': ({ data, actor }) => info(`Automatic updates to version ${data.version} go on, by ${actor.name}`),
  'command.ended': ({ data, actor }) =>
    data.state === 'done' ? undefined : warning(`${actor.name} could not ${commandInWords(data)}: ${data.message}`),
  'deterrent.fired': ({ data: { deterrent, seconds, by, gatewayName, detectionId } }) => ({
    ...info(
      `Deterrent "${deterrent}" of "${gatewayName}" was fired by ${by}${seconds === null ? '' : ` for ${seconds} s`}`,
    ),
    detectionId: detectionId ?? undefined,
  }),
  'deterrent.failed': ({ data: { deterrent, gatewayName, message, detectionId } }) => ({
    type: 'error',
    message: `Deterrent "${deterrent}" of "${gatewayName}" failed: ${message}`,
    detectionId: detectionId ?? undefined,
  }),
  'gateway.armed': ({ data }) => info(`Gateway "${data.gatewayName}" was armed by ${data.by}`),
  'gateway.disarmed': ({ data }) => warning(`Gateway "${data.gatewayName}" was disarmed by ${data.by}`),
  'gateway.snoozed': ({ data: { gatewayName, did } }) => warning(`Gateway "${gatewayName}": ${did}`),
  'gateway.snooze-ended': ({ data: { gatewayName, did } }) => info(`Gateway "${gatewayName}": ${did}`),

  'device.file-saved': ({ data: { gatewayName, did } }) => info(`Gateway "${gatewayName}": ${did}`),
  'device.password-refused': ({ data: { gatewayName, did } }) => warning(`Gateway "${gatewayName}": ${did}`),

  'alert.escalated': ({ data }) =>
    warning(`Alert "${data.title}" was not acknowledged: step ${data.step} of "${data.ruleName}" was sent`),
  'alert.acknowledged': ({ data, actor }) =>
    info(
      `Alert "${data.title}" was acknowledged ${[
        ...(actor.userId === undefined ? [] : [`by ${actor.name}`]),
        ...(data.via === 'portal' ? [] : [linkInWords(data.via, actor)]),
      ].join(', ')}`,
    ),

  'storage.low': ({ data }) => ({
    type: 'error',
    message: `${data.message}${REFUSES_DETECTIONS[data.state]}`,
  }),
  'backup.failed': ({ data }) => warning(data.message),
  'settings.changed': ({ data, actor }) =>
    info(`Settings of the hub were changed by ${actor.name}: ${settingsInWords(data.changes)}`),
  'settings.restored': () => ({
    type: 'error',
    message: 'The VPN could not start with its new settings: the hub put the old ones back',
  }),
  'certificate.expiring': ({ data }) => warning(`${data.name} expires on ${data.expiresAt.slice(0, 10)}: renew it`),
  'certificate.renewed': ({ data, actor }) =>
    info(`${CERTIFICATE_NAMES[data.id]} was renewed by ${actor.userId === undefined ? 'the hub' : actor.name}`),
}

export const activity: TransactionFollower = {
  name: 'activity',
  kinds: Object.keys(words) as FactKind[],
  async inTransaction(transaction, facts) {
    const { capped = [], others = [] } = Object.groupBy(facts, ({ kind }) => (kind in caps ? 'capped' : 'others'))
    await recordActivity(transaction, ...others.flatMap(entriesOf))
    await recordCappedActivity(transaction, capped.flatMap(cappedEntriesOf))
  },
}

/**
 * How many entries of an hour stay of what a gateway causes by itself, however often. Together they are fewer than the
 * dashboard shows, so that those of others stay visible.
 */
const caps: { readonly [K in FactKind]?: number } = {
  'detection.reported': 20,
  'deterrent.fired': 14,
  'gateway.status-changed': 5,
  'deterrent.failed': 3,
  'gateway.armed': 2,
  'gateway.disarmed': 2,
  'gateway.snoozed': 2,
  'gateway.snooze-ended': 1,
  'device.file-saved': 2,
  'device.password-refused': 1,
}

function cappedEntriesOf<K extends FactKind>(fact: Fact<K>): CappedActivity[] {
  const { kind, gatewayId = '' } = fact
  return entriesOf(fact).map((entry) => ({ ...entry, gatewayId, most: caps[kind]! }))
}

function entriesOf<K extends FactKind>(fact: Fact<K>): NewActivity[] {
  const lines = (words[fact.kind as K] as Words<K>)(fact) ?? []
  return (Array.isArray(lines) ? lines : [lines]).map((line: Line) => ({
    at: fact.at,
    gatewayId: fact.gatewayId,
    kind: fact.kind,
    ...line,
  }))
}

function commandInWords({
  action,
  deterrent,
  learning,
  names,
  snooze,
  gatewayName,
}: FactData['command.ended']): string {
  if (snooze) {
    const about = `${snooze.camera === undefined ? '' : `camera "${snooze.camera}" of `}gateway "${gatewayName}"`
    const [begin, end] =
      snooze.kind === 'snooze' ? ['snooze', 'end the snooze of'] : ['begin maintenance of', 'end maintenance of']
    return `${action === 'snooze' ? begin : end} ${about}`
  }
  if (learning) return `undo what gateway "${gatewayName}" learned of "${learning.label}" on "${learning.camera}"`
  if (action === 'learn-now') return `have gateway "${gatewayName}" learn now`
  if (names && 'number' in names) return `undo version ${names.number} of the names that gateway "${gatewayName}" gives`
  if (names) return `use names of another gateway at gateway "${gatewayName}"`
  const what = deterrent === null ? '' : `"${deterrent}" of `
  return `${action} ${what}gateway "${gatewayName}"`
}

const typeOfStatus: Record<Gateway['status'], NewActivity['type']> = {
  online: 'success',
  warning: 'warning',
  offline: 'error',
}

const REFUSES_DETECTIONS: Readonly<Record<FactData['storage.low']['state'], string>> = {
  low: ' The hub takes no detections until there is room.',
  full: ' The hub takes no detections until there is room.',
  unwritable: ' The hub takes no detections until it can write.',
  folder: '',
}

const info = (message: string): Line => ({ type: 'info', message })
const success = (message: string): Line => ({ type: 'success', message })
const warning = (message: string): Line => ({ type: 'warning', message })

function nameOfInvitation({ label, role }: { label: string; role: string }): string {
  return label === '' ? `as ${role}` : `"${label}" as ${role}`
}

function settingsInWords(changes: Partial<HubSettings>): string {
  return Object.entries(changes)
    .map(([name, value]) => {
      const label = SETTING_LABELS[name as keyof HubSettings]
      return typeof value === 'boolean' ? `${label} ${value ? 'on' : 'off'}` : label
    })
    .join(', ')
}

const countOf = ({ rules, hasUpdates, views }: FactData['site.orphaned']) => rules.length + (hasUpdates ? 2 : 0) + views

/** `the alert rules "A", "B", automatic updates and 2 saved views` */
function namedIn({ rules, hasUpdates, views }: FactData['site.orphaned']): string {
  const parts = [
    ...(rules.length > 0
      ? [`the alert ${rules.length === 1 ? 'rule' : 'rules'} ${rules.map((name) => `"${name}"`).join(', ')}`]
      : []),
    ...(hasUpdates ? ['automatic updates'] : []),
    ...(views > 0 ? [`${views} saved ${views === 1 ? 'view' : 'views'}`] : []),
  ]
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
