import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { readSecret } from '../database/secrets.ts'
import type { Tables } from '../database/tables.ts'
import { lookAtChannels } from '../notifications/notifications.ts'
import type { Finding } from './finding.ts'

/** Whether messages can leave the hub, as far as its settings say. */
export async function examineChannels(
  db: Kysely<Tables>,
  { notifications: variables, channelHosts: hosts }: Config,
): Promise<Finding> {
  const key = (await readSecret(db, 'channel-key')) ?? ''
  const setups = await lookAtChannels(db, { key, variables, hosts })
  const nameOf = (name: string) => CHANNEL_NAMES[name] ?? name
  const broken = setups.filter(({ enabled, problem }) => enabled && problem !== null).map(({ name }) => nameOf(name))
  if (broken.length > 0)
    return {
      check: 'channels',
      state: 'FAIL',
      text: `the secrets of ${broken.join(', ')} cannot be read`,
      remedy: 'Enter them again under Threats, Alert Rules, Channels.',
    }
  const on = setups.filter(({ enabled }) => enabled)
  if (on.length > 0) {
    const words = on.map(({ name, setUpBy }) => `${nameOf(name)}${setUpBy === null ? '' : ` (${setUpBy})`}`)
    return { check: 'channels', state: 'ok', text: `on: ${words.join(', ')}` }
  }
  return {
    check: 'channels',
    state: 'warn',
    text: 'none is set up: people get messages only in the portal and on devices that they add',
    remedy: 'Set one up under Threats, Alert Rules, Channels.',
  }
}
