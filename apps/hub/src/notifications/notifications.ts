/**
 * Notifies people outside the hub over the channels of channels/. Messages wait in the outbox (outbox.ts), so no caller
 * waits for the delivery. followers.ts announces, the settings' switches decide,
 * routes.ts sends tests.
 */
import { randomUUID } from 'node:crypto'
import type { Language, MessageEvent } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Logger } from 'pino'
import { createSealing } from '../database/sealed.ts'
import type { Db, Tables } from '../database/tables.ts'
import { createTasks } from '../kernel/tasks.ts'
import { readSetting } from '../settings/settings.ts'
import { HubError } from '../kernel/hub-error.ts'
import { DeliveryUnknown, Undeliverable, type Channel, type Message } from './channel.ts'
import { channelTypes } from './channels.ts'
import { createMessages, type Content, type MessageParts, type Row } from './messages.ts'
import type { OpenChannels, Opened } from './open-channels.ts'
import {
  channelsOf,
  claim,
  countMessages,
  putContent,
  putOutcome,
  settleInterrupted,
  TEST,
  waitsUnder,
  withdraw,
  write,
  writeTest,
} from './outbox.ts'
import { createSavedChannels } from './saved-channels.ts'
import { WORDS } from './words.ts'

const LOOK_INTERVAL_MS = 5_000

export type Announcement = Content & {
  /** Identifies the event: a message with the same key is not sent again. */
  key: string
  kind: MessageEvent | 'two-factor.guessed'
  /** The keys of the messages that this one revokes: it is sent only over channels that sent one, or will. */
  follows?: readonly string[]
  /** The alert that it is about. */
  alertId?: string
  /** Only these channels; all when empty or left out. */
  channels?: readonly string[]
  /** These channels do not send it. */
  except?: readonly string[]
  /** The earliest time to send it, in milliseconds since 1970. */
  dueAt?: number
  /** A message with the same key that still waits becomes this one. */
  grows?: boolean
}

/** The current switches of the settings. */
export type NotificationSwitches = { enabled: boolean; email: string }

export type Announce = (transaction: Transaction<Tables>, announcement: Announcement) => Promise<void>

export type DeliveryResult = { status: 'sent' | 'failed' | 'off'; message: string }

export type Notifications = {
  /** Writes messages in the transaction of the change; none while the switches are off. */
  announce: Announce
  /**
   * Whether a message with this key still waits over all its channels, so that it may grow, and when it was or is due;
   * undefined when there is none.
   */
  waitsUnder(transaction: Transaction<Tables>, key: string): Promise<{ isWaiting: boolean; dueAt: number } | undefined>
  /**
   * Sends a mail to one person now and keeps nothing of it, for links with a secret. Throws `mail_unavailable`, or the
   * server's error.
   */
  sendMail(mail: { to: string; title: string; text: string; language: Language; path: string }): Promise<void>
  /** Throws `mail_unavailable`. */
  requireMail(): void
  /** Call it when there may be something to send; returns at once. */
  wake(): void
  start(): Promise<void>
  /** Sends everything that is due. */
  deliver(): Promise<void>
  /**
   * Sends a test message over the channel `only`, or over all shared channels; results by the channel's name. Its
   * outcomes are rows of the outbox too.
   */
  test(only?: string): Promise<Record<string, DeliveryResult>>
  /** The reason why nothing would send this row now, as a sentence. */
  problemOf(transaction: Db, row: Pick<Row, 'channel' | 'alert_id'>): Promise<string | undefined>
  status(): Promise<{
    channels: Record<string, boolean>
    problems: Record<string, string>
    waiting: number
    failed: number
  }>
  stop(): Promise<void>
}

/** What a row of the outbox says now; undefined when it must not be sent any more. */
export type Renew = (row: Row) => Promise<Content | undefined>

export function createNotifications(
  options: MessageParts & {
    db: Kysely<Tables>
    clock: () => number
    log: Logger
    channels: OpenChannels
    /** The switch and the address of the auto-approval settings. */
    readSwitches: (db: Db) => Promise<NotificationSwitches>
    renew: Renew
    /** A JPEG for test messages. */
    testPicture: () => Promise<Buffer>
  },
): Notifications {
  const { db, clock, log, channels: open } = options
  const opened = open.all
  const messageOf = createMessages(options)
  const tasks = createTasks({ log, name: 'notifications', on: 'one hub', failure: 'could not read notifications yet' })
  let isStopped = false

  /**
   * Whether the hub notifies at all, whether it notifies of approvals and of its own state, and the mail address. Alert
   * rules have switches of their own.
   */
  async function switches(from: Db): Promise<NotificationSwitches & { alerts: boolean }> {
    const enableNotifications = await readSetting(from, 'enableNotifications')
    const { enabled, email } = await options.readSwitches(from)
    return { alerts: enableNotifications, enabled: enableNotifications && enabled, email }
  }

  async function deliver(): Promise<void> {
    const now = await switches(db)
    const waiting = db.deleteFrom('notifications').where('state', '=', 'waiting')
    for (const one of opened) {
      if (one.type.audience === 'browser' && !now.alerts) await waiting.where('channel', '=', one.type.name).execute()
      if (one.type.audience === 'operators' && !now.enabled) {
        const dropped = waiting.where('channel', '=', one.type.name)
        await (now.alerts ? dropped.where('alert_id', 'is', null) : dropped).execute()
      }
      await deliverOver(one, now)
    }
  }

  async function deliverOver(opened: Opened, settings: { email: string }): Promise<void> {
    const { type, channel } = opened
    if (!channel || channel.problem(settings) !== undefined || Math.abs(clock() - opened.sentAt) < type.pauseMs) return
    for (let sent = 0; sent < type.sendingsATurn; sent++) {
      const rows = isStopped ? [] : await claim(db, { channel: type.name, limit: type.batch, now: clock() })
      if (rows.length === 0) return
      opened.sentAt = clock()
      const arrived = await settle(rows, async () => {
        const messages = await messagesOf(rows)
        const leftOut = messages.length > 0 && (await channel.send(messages, settings))
        if (leftOut) log.warn({ channel: type.name }, leftOut)
      })
      if (!arrived && !type.goesOnAfterFailure) return
    }
  }

  /** The messages of claimed rows; removes the rows that nobody should get any more. */
  async function messagesOf(rows: readonly Row[]): Promise<Message[]> {
    const contents = await Promise.all(rows.map(async (row) => ({ row, content: await options.renew(row) })))
    const messages = contents.map(async ({ row, content }) => {
      if (!content) await withdraw(db, row)
      else await putContent(db, row, content)
      return content && messageOf(row, content)
    })
    return (await Promise.all(messages)).filter((message) => message !== undefined)
  }

  /** Sends, and records the result; returns whether it succeeded. */
  async function settle(rows: Row[], send: () => Promise<void>): Promise<boolean> {
    let problem: string | undefined
    let isLast = false
    try {
      await send()
    } catch (error) {
      problem = sentence(error)
      isLast = error instanceof DeliveryUnknown || error instanceof Undeliverable
      log.warn({ err: error, channel: rows[0]?.channel }, 'a notification could not be sent')
    }
    await putOutcome(db, rows, { problem, isLast, now: clock() })
    return problem === undefined
  }

  function mailChannel(): Channel {
    const channel = opened.find(({ type }) => type.audience === 'person')?.channel
    if (!channel) throw new HubError('mail_unavailable')
    return channel
  }

  return {
    async announce(transaction, announcement) {
      const { key, kind, follows, channels = [], except = [], dueAt, grows = false, alertId, ...content } = announcement
      const now = await switches(transaction)
      const at = clock()
      const when = { now: at, dueAt: dueAt ?? at }
      const audience = content.push ? 'browser' : content.to === undefined ? 'operators' : 'person'
      const isOn = alertId !== undefined ? now.alerts : audience !== 'operators' || now.enabled
      if (!isOn || content.to === '') return
      const followed = follows === undefined ? undefined : await channelsOf(transaction, follows)
      for (const { type, channel } of opened) {
        if (type.audience !== audience || !channel || channel.problem(now) !== undefined) continue
        if (except.includes(type.name) || (channels.length > 0 && !channels.includes(type.name))) continue
        if (followed?.has(type.name) ?? true)
          await write(transaction, { key, channel: type.name, kind, alert_id: alertId ?? null, content, grows }, when)
      }
    },

    waitsUnder,
    requireMail: () => void mailChannel(),

    async sendMail({ path, ...mail }) {
      const id = `mail.${randomUUID()}`
      const serial = id.replaceAll('-', '.')
      const at = new Date(clock()).toISOString()
      const url = `${options.portalUrl()}${path}`
      await mailChannel().send([{ id, serial, event: 'account', at, url, data: {}, ...mail }], { email: '' })
    },

    wake: () => void tasks.run(deliver),
    deliver: () => tasks.run(deliver),

    async start() {
      const again = channelTypes.filter(({ interrupted }) => interrupted === 'waiting').map(({ name }) => name)
      await settleInterrupted(db, { again, now: clock() })
      tasks.every(LOOK_INTERVAL_MS, deliver)
      void tasks.run(deliver)
    },

    async test(only) {
      const now = await options.readSwitches(db)
      const serial = `test.${clock()}`
      const language = await readSetting(db, 'language')
      const picture = await options.testPicture().catch(() => undefined)
      const message: Message = {
        id: serial,
        serial,
        event: TEST,
        at: new Date(clock()).toISOString(),
        title: WORDS[language].test,
        text: WORDS[language].sharedTest,
        language,
        data: {},
        // As an alert has: a service may take words and refuse pictures.
        ...(picture && { picture }),
      }
      const results: Record<string, DeliveryResult> = {}
      for (const { type, channel, problem: offBecause } of opened) {
        if (type.audience !== 'operators' || (only !== undefined && type.name !== only)) continue
        const problem = channel ? channel.problem(now) : offBecause
        if (!channel || problem !== undefined) {
          results[type.name] = { status: 'off', message: problem ?? offBecause }
          continue
        }
        const result = await attempt(() => channel.send([message], now), type.taken)
        await writeTest(db, {
          channel: type.name,
          message,
          error: result.status === 'sent' ? null : result.message,
          now: clock(),
        })
        results[type.name] = result
      }
      return results
    },

    async problemOf(transaction, row) {
      const one = opened.find(({ type }) => type.name === row.channel)
      if (!one?.channel) return one?.problem ?? 'This hub has no such channel.'
      const now = await switches(transaction)
      const isOn = row.alert_id === null && one.type.audience === 'operators' ? now.enabled : now.alerts
      return isOn ? one.channel.problem(now) : 'Notifications are off in the settings.'
    },

    async status() {
      const channels = Object.fromEntries(opened.map(({ type, channel }) => [type.name, channel !== undefined]))
      const now = await options.readSwitches(db)
      const problems = Object.fromEntries(
        opened.flatMap(({ type, channel }) => {
          const problem = channel?.problem(now)
          return problem === undefined ? [] : [[type.name, problem]]
        }),
      )
      return { channels, problems, ...(await countMessages(db)) }
    },

    async stop() {
      isStopped = true
      open.close()
      await tasks.stop()
    },
  }
}

/** The channels and what is set of them, for a hub that may not run. */
export function lookAtChannels(
  db: Db,
  { key, ...about }: { key: string } & Omit<Parameters<typeof createSavedChannels>[0], 'sealing'>,
) {
  return createSavedChannels({ sealing: createSealing(key), ...about }).list(db)
}

async function attempt(send: () => Promise<string | void>, taken: string): Promise<DeliveryResult> {
  try {
    const leftOut = await send()
    return { status: 'sent', message: leftOut ?? taken }
  } catch (error) {
    return { status: 'failed', message: sentence(error) }
  }
}

/** The error in one line, short enough to read. */
function sentence(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
}
