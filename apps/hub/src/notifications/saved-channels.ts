/**
 * The channels that admins set up in the portal. Secrets are sealed in the database, and no answer, audit entry or log
 * holds one. Where the operator's variables set a channel or a field, they win and nothing can be changed here.
 */
import type { ChannelSetup } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Sealing } from '../database/sealed.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { hostOf, mayBePublic } from '../http/public-hosts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { ChannelType, Field } from './channel.ts'
import { firstField, missingFields, type Values } from './channel-settings.ts'
import { channelTypes } from './channels.ts'
import { isTrusted } from './reach.ts'

const CHANGED = 'This was changed meanwhile.'
const UNREADABLE = 'Its secrets cannot be read: enter them again.'

type Saved = { enabled: boolean; values: Values; isUnreadable: boolean }
type Input = Readonly<Record<string, string | null>>
export type ChannelChange = Change<{ enabled: boolean; values: Input }>

export type SavedChannels = {
  /** The settings of `type`, or of the channel `name` whose settings are its own. */
  read(db: Db, type: ChannelType, name?: string): Promise<Saved>
  list(db: Db): Promise<ChannelSetup[]>
  /**
   * With `isWhole` every field that no variable sets must be in `values`. Throws `channel_not_found`,
   * `channel_set_by_variable`, `changed_meanwhile`, and `invalid_request` with the names of fields.
   */
  save(db: Kysely<Tables>, name: string, change: ChannelChange & { isWhole: boolean }, act: Act): Promise<ChannelSetup>
}

/** The channels of the form; the others need no settings, or share those of one of these. */
const formed = channelTypes.filter((type) => firstField(type) !== undefined && type.sharedSettings === undefined)

export function createSavedChannels({
  sealing,
  variables,
  hosts,
}: {
  sealing: Sealing
  /** The values of variables, by the names of channels. */
  variables: Readonly<Record<string, Values | undefined>>
  /** Trusted servers that are not on the Internet. */
  hosts: readonly string[]
}): SavedChannels {
  const byVariables = (name: string): Values => variables[name] ?? {}

  async function read(db: Db, { fields, ...type }: ChannelType, name = type.name): Promise<Saved> {
    const row = await db.selectFrom('channels').selectAll().where('name', '=', name).executeTakeFirst()
    if (!row) return { enabled: false, values: {}, isUnreadable: false }
    const guarded = operatorsSecret({ fields }, byVariables(name))
    // A value that this version does not accept counts as unset, and so does an address for the operator's own secret.
    const accepted = (text: string): Values =>
      Object.fromEntries(
        Object.entries(JSON.parse(text) as Values).filter(
          ([field, value]) =>
            fields[field]?.schema.safeParse(value).success && !(guarded && fields[field].kind === 'address'),
        ),
      )
    const [enabled, values] = [row.enabled === 1, accepted(row.fields)]
    try {
      return { enabled, values: { ...values, ...accepted(sealing.open(row.sealed, name)) }, isUnreadable: false }
    } catch {
      return { enabled, values, isUnreadable: true }
    }
  }

  async function write(db: Db, type: ChannelType, enabled: boolean, values: Values): Promise<void> {
    const of = (isSecret: boolean) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(values).filter(([name]) => (type.fields[name]?.kind === 'secret') === isSecret),
        ),
      )
    const row = { enabled: enabled ? 1 : 0, fields: of(false), sealed: sealing.seal(of(true), type.name) }
    await db
      .insertInto('channels')
      .values({ name: type.name, ...row })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute()
  }

  function setupOf(type: ChannelType, saved: Saved): ChannelSetup {
    const fixed = byVariables(type.name)
    const setUpBy = variableOf(type, fixed)
    return {
      name: type.name,
      enabled: setUpBy === null ? saved.enabled : true,
      setUpBy,
      problem: setUpBy === null && saved.isUnreadable ? UNREADABLE : null,
      fields: Object.entries(type.fields).map(([name, field]) => {
        const isByVariable = fixed[name] !== undefined
        const value = setUpBy === null ? saved.values[name] : undefined
        return {
          name,
          label: field.label,
          help: field.help ?? '',
          kind: field.kind,
          choices: [...(field.choices ?? [])],
          default: field.default ?? null,
          isNeeded: field.default === undefined && field.isOptional === undefined,
          variable: field.variable,
          isByVariable,
          isSet: isByVariable || value !== undefined,
          value: isByVariable || field.kind === 'secret' ? null : (value ?? null),
        }
      }),
    }
  }

  /** The values after a change. An empty text removes a value, but keeps a secret. */
  function changed(
    type: ChannelType,
    saved: Values,
    { isWhole, values = {}, seen }: ChannelChange & { isWhole: boolean },
  ) {
    const fixed = byVariables(type.name)
    const open = Object.entries(type.fields).filter(([name]) => fixed[name] === undefined)
    const problems: Record<string, string> = {}
    const guarded = operatorsSecret(type, fixed)
    for (const name of Object.keys(values)) {
      const variable = type.fields[name]?.variable
      if (variable === undefined) problems[name] = 'This channel has no such field.'
      else if (fixed[name] !== undefined) problems[name] = `${variable} sets this.`
    }
    if (isWhole) for (const [name] of open) if (!Object.hasOwn(values, name)) problems[name] = 'This is missing.'
    const shown = (seen?.['values'] ?? {}) as Record<string, unknown>
    const after: Record<string, string | undefined> = { ...saved }
    for (const [name, field] of open) {
      const given = values[name]
      if (field.kind !== 'secret' && Object.hasOwn(shown, name)) {
        const now = saved[name] ?? null
        if (now !== (shown[name] ?? null) && now !== given)
          throw new HubError('changed_meanwhile', { fieldErrors: { [`values.${name}`]: CHANGED } })
      }
      if (given === undefined || (given === '' && field.kind === 'secret')) continue
      if (given === null || given === '') delete after[name]
      else {
        const parsed = field.schema.safeParse(given)
        after[name] = parsed.data ?? given
        const problem =
          parsed.error?.issues[0]?.message ??
          (field.kind === 'address' ? addressProblem(given, { hosts, guarded }) : undefined)
        if (problem !== undefined) problems[name] = `${field.label} ${problem}.`
      }
    }
    return { after, problems }
  }

  return {
    read,

    list: (db) => Promise.all(formed.map(async (type) => setupOf(type, await read(db, type)))),

    save: (db, name, change, act) =>
      inTransaction(db, async (transaction) => {
        const type = formed.find((one) => one.name === name)
        if (!type) throw new HubError('channel_not_found')
        const fixed = byVariables(name)
        if (variableOf(type, fixed) !== null) throw new HubError('channel_set_by_variable')
        const before = await read(transaction, type)
        const { enabled } = edited({ enabled: before.enabled }, { enabled: change.enabled, seen: enabledOf(change) })
        const { after: values, problems } = changed(type, before.values, change)
        const all = { ...values, ...fixed }
        for (const [missing, { label }] of enabled ? missingFields(type, all) : [])
          problems[missing] ??= `${label} is needed while the channel is on.`
        for (const [secret, { kind, label }] of Object.entries(type.fields)) {
          const isKept = kind === 'secret' && values[secret] !== undefined && values[secret] === before.values[secret]
          if (isKept && !change.values?.[secret] && serverOf(type, values) !== serverOf(type, before.values))
            problems[secret] ??= `${label} was entered for another server: enter it again.`
        }
        if (Object.keys(problems).length > 0)
          throw new HubError('invalid_request', {
            fieldErrors: Object.fromEntries(Object.entries(problems).map(([field, text]) => [`values.${field}`, text])),
          })
        const changes = changesOf(type, before, { enabled, values })
        const after = { enabled, values, isUnreadable: before.isUnreadable && changes.length === 0 }
        if (changes.length > 0) {
          await write(transaction, type, enabled, values)
          await record(transaction, {
            kind: 'channel.changed',
            ...by(act),
            target: name,
            data: { changes },
          })
        }
        return setupOf(type, after)
      }),
  }
}

/** The variable that sets the whole channel up. */
export function variableOf(type: ChannelType, fixed: Values): string | null {
  const first = firstField(type)
  return first && fixed[first[0]] !== undefined ? first[1].variable : null
}

const enabledOf = ({ seen }: ChannelChange) =>
  seen !== undefined && Object.hasOwn(seen, 'enabled') ? { enabled: seen['enabled'] } : {}

/** The variable of a secret that the operator set: it goes to no server that somebody else names. */
function operatorsSecret({ fields }: Pick<ChannelType, 'fields'>, fixed: Values): string | undefined {
  return Object.entries(fields).find(([name, { kind }]) => kind === 'secret' && fixed[name] !== undefined)?.[1].variable
}

function addressProblem(
  value: string,
  { hosts, guarded }: { hosts: readonly string[]; guarded: string | undefined },
): string | undefined {
  if (guarded !== undefined) return `must be a variable of the hub, as ${guarded} is`
  const url = new URL(value)
  if (url.username !== '' || url.password !== '') return 'must have no sign-in'
  // A mail server's address may have options, such as a proxy.
  const isPlain = url.search === '' && url.hash === '' && ['', '/'].includes(url.pathname)
  if (!/^https?:$/.test(url.protocol) && !isPlain) return 'must have only a host and a port'
  if (!isTrusted(value, hosts) && !mayBePublic(hostOf(url)))
    return 'is not on the Internet: the operator of the hub allows it with HUB_CHANNEL_HOSTS'
  return undefined
}

/** Where the secrets go. */
function serverOf(type: ChannelType, values: Values): string | undefined {
  const [name, field] = Object.entries(type.fields).find(([, { kind }]) => kind === 'address') ?? []
  const address = name === undefined ? undefined : (values[name] ?? field?.default)
  if (address === undefined || !URL.canParse(address)) return address
  const { protocol, host } = new URL(address)
  return `${protocol}//${host}`
}

/** In words, for the audit. */
function changesOf(
  type: ChannelType,
  before: Omit<Saved, 'isUnreadable'>,
  after: Omit<Saved, 'isUnreadable'>,
): string[] {
  const switched = before.enabled === after.enabled ? [] : [after.enabled ? 'switched on' : 'switched off']
  const values = Object.entries(type.fields).flatMap(([name, { kind, label }]) => {
    const [was, is] = [before.values[name], after.values[name]]
    if (was === is) return []
    if (kind === 'secret') return [`${label} changed`]
    return [`${label} from ${shown(kind, was)} to ${shown(kind, is)}`]
  })
  return [...switched, ...values]
}

/** Managers read the audit, and the path of an address may be all that its messages are protected by. */
function shown(kind: Field['kind'], value: string | undefined): string {
  if (value === undefined) return 'nothing'
  if (kind === 'lines') return 'another text'
  if (kind !== 'address') return value
  const { protocol, host, pathname } = new URL(value)
  return `${protocol}//${host}${pathname.length > 1 ? '/…' : ''}`
}
