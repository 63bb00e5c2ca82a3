/** The channels that work now: opened from the settings that hold, and again when an admin has changed them. */
import type { Logger } from 'pino'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { BrokerSettings } from '../mqtt/mqtt.ts'
import type { Channel, ChannelParts, ChannelType } from './channel.ts'
import { settingsOf, type Values } from './channel-settings.ts'
import { channelTypes } from './channels.ts'
import { anywhere, isTrusted, onlyPublic } from './reach.ts'
import { variableOf, type SavedChannels } from './saved-channels.ts'

export type Opened = {
  type: ChannelType
  channel: Channel | undefined
  /** Why there is no channel, as a sentence. */
  problem: string
  sentAt: number
}

export type OpenChannels = {
  all: readonly Opened[]
  /** The broker of the channel that has one. */
  broker(): BrokerSettings | undefined
  /** Opens a channel again, from its settings of now. A message that is being sent still goes the old way. */
  open(name: string): Promise<void>
  close(): void
}

const NOT_SET_UP = 'This channel is not set up.'
const SWITCHED_OFF = 'This channel is switched off.'

export async function openChannels(options: {
  db: Kysely<Tables>
  saved: SavedChannels
  /** The values of variables, by the names of channels. */
  variables: Readonly<Record<string, Values | undefined>>
  hosts: readonly string[]
  parts: Omit<ChannelParts, 'reach'>
  log: Logger
}): Promise<OpenChannels> {
  const { db, saved, hosts, log } = options
  const all: Opened[] = channelTypes.map((type) => ({
    type,
    channel: undefined,
    problem: NOT_SET_UP,
    sentAt: -Infinity,
  }))
  const everOpened: Channel[] = []

  async function open(one: Opened): Promise<void> {
    const { type } = one
    const name = type.sharedSettings ?? type.name
    const fixed = options.variables[name] ?? {}
    const isByVariables = variableOf(type, fixed) !== null || Object.keys(type.fields).length === 0
    const mine = isByVariables ? { enabled: true, values: {}, isUnreadable: false } : await saved.read(db, type, name)
    if (mine.isUnreadable) log.error({ channel: name }, 'the secrets of a channel cannot be read: enter them again')
    const settings = settingsOf(type, { ...mine.values, ...fixed })
    const named = Object.entries(fixed).flatMap(([field, value]) =>
      value !== undefined && type.fields[field]?.kind === 'address' ? [new URL(value).host] : [],
    )
    const reach: ChannelParts['reach'] = (url) =>
      isByVariables || isTrusted(url, [...hosts, ...named]) ? anywhere : onlyPublic
    one.channel = undefined
    one.problem = settings === undefined ? NOT_SET_UP : SWITCHED_OFF
    if (settings === undefined || !mine.enabled) return
    one.channel = type.open(settings, { ...options.parts, reach })
    everOpened.push(one.channel)
  }

  for (const one of all) await open(one)
  return {
    all,
    broker: () => all.find(({ channel }) => channel?.broker)?.channel?.broker,
    async open(name) {
      for (const one of all) if ((one.type.sharedSettings ?? one.type.name) === name) await open(one)
    },
    close() {
      for (const channel of everOpened) channel.close()
    },
  }
}
