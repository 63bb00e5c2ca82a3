/**
 * Tells people outside the hub what waits for them: by e-mail and by a signed webhook. What is to be told is written to
 * an outbox in the transaction of what happened, under a key of its own, so that it is told once and neither a crash
 * nor a mail server that is away loses it; nobody ever waits for the delivery. Registrations and gateways/ announce,
 * the settings' switches decide, routes.ts sends tests.
 */
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Db, Tables } from '../database/tables.ts'
import { readSettings } from '../settings/settings.ts'
import { DeliveryUnknown, type Mailer } from './mailer.ts'
import type { Webhook } from './webhook.ts'

const LOOK_INTERVAL_MS = 5_000
const ATTEMPTS_MAX = 10
const FIRST_RETRY_MS = 30_000
const LAST_RETRY_MS = 3_600_000
/** Mails gather for this long after one went out: a thousand requests are a mail a minute. */
const MAIL_INTERVAL_MS = 60_000
const MAIL_BATCH = 100
const WEBHOOKS_A_TURN = 50

export type Announcement = {
  /** Of what happened: the same again is not told again. */
  key: string
  kind: 'registration.pending' | 'gateway.quiet' | 'gateway.back' | 'two-factor.guessed'
  /** The key of what this takes back: it goes only where that one went, or still waits. */
  follows?: string
  /** The portal's page to go to, as `/gateways`. */
  path?: string
  /** A line for a mail's subject. */
  title: string
  /** What to know and do, for a person. */
  text: string
  /** For programs. */
  data: Record<string, string | null>
}

/** What the settings of the moment say. */
export type NotificationSwitches = { enabled: boolean; email: string }

export type Announce = (transaction: Transaction<Tables>, announcement: Announcement) => Promise<void>

export type DeliveryResult = { status: 'sent' | 'failed' | 'off'; message: string }

export type Notifications = {
  /** Writes what is to be told, in the transaction of what happened. Nothing while the switches are off. */
  announce: Announce
  /** Writes a mail to one person about their own account, whatever the switches for the hub's alerts say. */
  tell(transaction: Transaction<Tables>, to: string, announcement: Announcement): Promise<void>
  /** There may be something new to send; returns at once. */
  wake(): void
  start(): Promise<void>
  /** Sends what is due, until nothing is. */
  deliver(): Promise<void>
  test(): Promise<{ email: DeliveryResult; webhook: DeliveryResult }>
  status(): Promise<{ email: boolean; webhook: boolean; waiting: number; failed: number }>
  stop(): Promise<void>
}

type Row = Selectable<Tables['notifications']>
type Content = Pick<Announcement, 'title' | 'text' | 'data' | 'path'> & { to?: string }

export function createNotifications(options: {
  /** Where people open the portal. */
  portalUrl: () => string
  db: Kysely<Tables>
  clock: () => number
  log: Logger
  mailer: Mailer | undefined
  webhook: Webhook | undefined
  /** The switch and the address of the auto-approval settings. */
  readSwitches: (db: Db) => Promise<NotificationSwitches>
}): Notifications {
  const { db, clock, log, mailer, webhook } = options
  let timer: NodeJS.Timeout | undefined
  let delivering: Promise<void> = Promise.resolve()
  let mailedAt = -Infinity
  let isStopped = false

  /** Who is told by mail, and whether anybody is told at all. */
  async function switches(from: Db): Promise<NotificationSwitches> {
    const { enableNotifications } = await readSettings(from)
    const { enabled, email } = await options.readSwitches(from)
    return { enabled: enableNotifications && enabled, email }
  }

  async function deliver(): Promise<void> {
    const { enabled, email } = await switches(db)
    if (mailer) await deliverToPersons(mailer)
    if (!enabled) {
      const unwanted = db.deleteFrom('notifications').where('state', '=', 'waiting')
      return void (await unwanted.where('channel', '!=', 'person').execute())
    }
    if (mailer && email !== '' && Math.abs(clock() - mailedAt) >= MAIL_INTERVAL_MS) await deliverMail(mailer, email)
    if (webhook) await deliverWebhooks(webhook)
  }

  /** Everything that waits, in one mail. */
  async function deliverMail(via: Mailer, to: string): Promise<void> {
    const rows = await claim('email', MAIL_BATCH)
    const [first] = rows
    if (!first) return
    mailedAt = clock()
    const contents = rows.map(contentOf)
    const [only] = contents
    const message =
      contents.length === 1 && only
        ? { subject: only.title, text: inMail(only) }
        : {
            subject: `${contents.length} messages from your hub`,
            text: contents.map((content) => `${content.title}\n${inMail(content)}`).join('\n\n'),
          }
    await settle(rows, () => via.send({ to, id: `${first.id}.${first.created_at}`, ...message }))
  }

  function inMail({ text, path }: Content): string {
    return path === undefined ? text : `${text}\n${options.portalUrl()}${path}`
  }

  async function deliverToPersons(via: Mailer): Promise<void> {
    for (const row of await claim('person', MAIL_BATCH)) {
      const { to = '', ...content } = contentOf(row)
      const message = { subject: content.title, text: inMail(content) }
      await settle([row], () => via.send({ to, id: `${row.id}.${row.created_at}`, ...message }))
    }
  }

  /** One after the other, until one fails: a receiver that is away is not asked for each. */
  async function deliverWebhooks(via: Webhook): Promise<void> {
    for (let sent = 0; sent < WEBHOOKS_A_TURN; sent++) {
      const [row] = await claim('webhook', 1)
      if (!row) return
      const { title, text, path, data } = contentOf(row)
      const link = path !== undefined && { url: `${options.portalUrl()}${path}` }
      const at = new Date(row.created_at).toISOString()
      const message = { id: row.key, event: row.kind, at, title, text, ...link, data }
      if (!(await settle([row], () => via.send(row.key, message)))) return
    }
  }

  /** Rows that this call alone will send; of several that ask at once each row goes to one. */
  async function claim(channel: Row['channel'], limit: number): Promise<Row[]> {
    if (isStopped) return []
    const due = db
      .selectFrom('notifications')
      .select('id')
      .where('state', '=', 'waiting')
      .where('channel', '=', channel)
      .where('due_at', '<=', clock())
      .orderBy('id')
      .limit(limit)
    const rows = await db
      .updateTable('notifications')
      .set((row) => ({ state: 'sending', attempts: row('attempts', '+', 1) }))
      .where('id', 'in', due)
      .where('state', '=', 'waiting')
      .returningAll()
      .execute()
    return rows.toSorted((a, b) => a.id - b.id)
  }

  /** Sends, and writes how that went; gives whether it went well. */
  async function settle(rows: Row[], send: () => Promise<void>): Promise<boolean> {
    let problem: string | undefined
    let mayHaveArrived = false
    try {
      await send()
    } catch (error) {
      problem = sentence(error)
      mayHaveArrived = error instanceof DeliveryUnknown
      log.warn({ err: error, channel: rows[0]?.channel }, 'a notification could not be sent')
    }
    for (const { id, attempts } of rows) {
      const retryMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempts - 1))
      const outcome =
        problem === undefined
          ? { state: 'sent' as const, error: null }
          : mayHaveArrived || attempts >= ATTEMPTS_MAX
            ? { state: 'failed' as const, error: problem }
            : { state: 'waiting' as const, error: problem, due_at: clock() + retryMs }
      await db.updateTable('notifications').set(outcome).where('id', '=', id).execute()
    }
    return problem === undefined
  }

  async function write(
    transaction: Transaction<Tables>,
    { content, ...row }: Pick<Row, 'key' | 'channel' | 'kind'> & { content: Content },
  ): Promise<void> {
    const now = clock()
    await transaction
      .insertInto('notifications')
      .values({
        ...row,
        content: JSON.stringify(content),
        state: 'waiting',
        attempts: 0,
        created_at: now,
        due_at: now,
        error: null,
      })
      .onConflict((conflict) => conflict.columns(['key', 'channel']).doNothing())
      .execute()
  }

  function deliverInTurn(): Promise<void> {
    delivering = delivering
      .then(deliver)
      .catch((error: unknown) => log.warn({ err: error }, 'notifications could not be read yet'))
    return delivering
  }

  return {
    async announce(transaction, { key, kind, follows, ...content }) {
      const { enabled, email } = await switches(transaction)
      if (!enabled) return
      const channels: Row['channel'][] = [
        ...(mailer && email !== '' ? (['email'] as const) : []),
        ...(webhook ? (['webhook'] as const) : []),
      ]
      const followed = follows === undefined ? undefined : await channelsOf(transaction, follows)
      for (const channel of channels)
        if (followed?.has(channel) ?? true) await write(transaction, { key, channel, kind, content })
    },

    async tell(transaction, to, { key, kind, ...content }) {
      if (mailer && to !== '') await write(transaction, { key, channel: 'person', kind, content: { ...content, to } })
    },

    wake: () => void deliverInTurn(),
    deliver: deliverInTurn,

    async start() {
      // Whether these arrived before the hub stopped, nobody knows. A webhook's receiver knows them by their id; a
      // person must not get a mail twice.
      const interrupted = db.updateTable('notifications').where('state', '=', 'sending')
      await interrupted.set({ state: 'waiting' }).where('channel', '=', 'webhook').execute()
      const error = 'The hub stopped while this was being sent: it may have arrived.'
      await interrupted.set({ state: 'failed', error }).execute()
      timer = setInterval(() => void deliverInTurn(), LOOK_INTERVAL_MS).unref()
      void deliverInTurn()
    },

    async test() {
      const { email } = await options.readSwitches(db)
      const title = 'Test message from your hub'
      const text = 'Somebody asked the hub to send this message. Nothing needs to be done.'
      const id = `test.${clock()}`
      const at = new Date(clock()).toISOString()
      return {
        email: !mailer
          ? off('HUB_SMTP_URL is not set.')
          : email === ''
            ? off('There is no notification email in the auto-approval settings.')
            : await attempt(() => mailer.send({ to: email, id, subject: title, text }), 'The mail server took it.'),
        webhook: webhook
          ? await attempt(() => webhook.send(id, { id, event: 'test', at, title, text, data: {} }), 'It was accepted.')
          : off('HUB_WEBHOOK_URL is not set.'),
      }
    },

    async status() {
      const rows = await db
        .selectFrom('notifications')
        .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
        .where('state', 'in', ['waiting', 'failed'])
        .groupBy('state')
        .execute()
      const count = (state: Row['state']) => Number(rows.find((row) => row.state === state)?.count ?? 0)
      return {
        email: mailer !== undefined,
        webhook: webhook !== undefined,
        waiting: count('waiting'),
        failed: count('failed'),
      }
    },

    async stop() {
      isStopped = true
      clearInterval(timer)
      mailer?.close()
      webhook?.close()
      await delivering
    },
  }
}

/** The channels by which this was told, or will be. */
async function channelsOf(db: Db, key: string): Promise<Set<Row['channel']>> {
  const rows = db.selectFrom('notifications').select('channel').where('key', '=', key).where('state', '!=', 'failed')
  return new Set((await rows.execute()).map(({ channel }) => channel))
}

function contentOf(row: Row): Content {
  return JSON.parse(row.content) as Content
}

function off(message: string): DeliveryResult {
  return { status: 'off', message }
}

async function attempt(send: () => Promise<void>, message: string): Promise<DeliveryResult> {
  try {
    await send()
    return { status: 'sent', message }
  } catch (error) {
    return { status: 'failed', message: sentence(error) }
  }
}

/** One line of what went wrong, never longer than a person reads. */
function sentence(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
}
