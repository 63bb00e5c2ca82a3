/**
 * The browsers that show a person's alerts. Their addresses come from browsers, so the hub calls only hosts on the
 * Internet and those of HUB_PUSH_HOSTS.
 */
import { randomBytes } from 'node:crypto'
import type { BodyOf, PushSubscription, subscribePush } from '@hedgerow/contract'
import { isIP } from 'node:net'
import type { Kysely, Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { callOut } from '../http/outgoing-call.ts'
import { isPublicAddress, lookupPublic } from '../http/public-hosts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { Undeliverable, type PushMessage, type SendPush } from './channel.ts'
import { encryptPush, isPushReceiver, vapidHeader, type PushKeys } from './web-push.ts'

const ID_BYTES = 9
const BROWSERS_MAX = 20
const ANSWER_TIMEOUT_MS = 20_000
/** How long a push service keeps a message for a browser that is away. */
const KEPT_SECONDS = 86_400

type Row = Selectable<Tables['push_subscriptions']>

/** Its message is for operators: it says whether a name has an address in the hub's own network. */
export class Unreachable extends Error {}

export type Push = {
  publicKey: string
  list(userId: string): Promise<PushSubscription[]>
  /** Throws `push_endpoint_refused` or `too_many_push_subscriptions`. */
  subscribe(body: BodyOf<typeof subscribePush>, userAgent: string, act: Act): Promise<PushSubscription>
  /** Throws `push_subscription_not_found`, also for another person's. */
  unsubscribe(id: string, act: Act): Promise<void>
  requireOwn(id: string, userId: string): Promise<void>
  send: SendPush
}

export function createPush(options: {
  db: Kysely<Tables>
  clock: () => number
  keys: PushKeys
  /** Allowed hosts outside the Internet, with their port unless that is 443. */
  hosts: readonly string[]
  subject: () => string
}): Push {
  const { db, clock, keys, hosts, subject } = options
  const isTrusted = ({ host }: URL) => hosts.includes(host)

  /** Names are looked up when a message is sent. */
  function isAllowed(endpoint: string): boolean {
    const url = new URL(endpoint)
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false
    if (isTrusted(url)) return true
    const address = url.hostname.replace(/^\[(.*)\]$/, '$1')
    return url.port === '' && (isIP(address) === 0 || isPublicAddress(address))
  }

  async function requireOwn(id: string, userId: string): Promise<void> {
    const own = db.selectFrom('push_subscriptions').select('id').where('id', '=', id).where('user_id', '=', userId)
    if (!(await own.executeTakeFirst())) throw new HubError('push_subscription_not_found')
  }

  async function post(row: Row, { payload, topic }: PushMessage, signal: AbortSignal): Promise<void> {
    if (!isAllowed(row.endpoint)) throw new Undeliverable('The address of this browser is not on the Internet.')
    const url = new URL(row.endpoint)
    const { status, body } = await callOut({
      url,
      method: 'POST',
      body: encryptPush(Buffer.from(JSON.stringify(payload)), row),
      headers: {
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        authorization: await vapidHeader({ endpoint: row.endpoint, subject: subject(), now: clock() }, keys),
        ttl: String(KEPT_SECONDS),
        urgency: 'high',
        topic,
      },
      timeoutMs: ANSWER_TIMEOUT_MS,
      answerLimitBytes: 16 * 1024,
      signal,
      ...(!isTrusted(url) && { lookup: lookupPublic }),
    }).catch((error: Error) => {
      throw new Unreachable(error.message, { cause: error })
    })
    if (status >= 200 && status < 300) return
    if (status === 404 || status === 410) throw new Gone()
    const words = body.toString('utf8').replaceAll(/\s+/g, ' ').slice(0, 200)
    throw new Error(`The push service of this browser answered ${status}${words === '' ? '.' : `: ${words}`}`)
  }

  return {
    publicKey: keys.publicKey,

    async list(userId) {
      const rows = db.selectFrom('push_subscriptions').selectAll().where('user_id', '=', userId)
      return (await rows.orderBy('created_at').orderBy('id').execute()).map(toSubscription)
    },

    subscribe({ endpoint, keys: receiver }, userAgent, act) {
      if (!isAllowed(endpoint) || !isPushReceiver(receiver))
        return Promise.reject(new HubError('push_endpoint_refused'))
      return inTransaction(db, async (transaction) => {
        await transaction.deleteFrom('push_subscriptions').where('endpoint', '=', endpoint).execute()
        const { n } = await transaction
          .selectFrom('push_subscriptions')
          .select(({ fn }) => fn.countAll().as('n'))
          .where('user_id', '=', act.actor.userId)
          .executeTakeFirstOrThrow()
        if (Number(n) >= BROWSERS_MAX) throw new HubError('too_many_push_subscriptions')
        const row = await transaction
          .insertInto('push_subscriptions')
          .values({
            id: randomBytes(ID_BYTES).toString('base64url'),
            user_id: act.actor.userId,
            endpoint,
            p256dh: receiver.p256dh,
            auth: receiver.auth,
            user_agent: userAgent.slice(0, 300),
            session_id: act.actor.sessionId,
            created_at: act.now,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        await record(transaction, { kind: 'push.subscribed', ...by(act), target: row.id, data: {} })
        return toSubscription(row)
      })
    },

    unsubscribe(id, act) {
      return inTransaction(db, async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('push_subscriptions')
          .where('id', '=', id)
          .where('user_id', '=', act.actor.userId)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw new HubError('push_subscription_not_found')
        await record(transaction, { kind: 'push.unsubscribed', ...by(act), target: id, data: {} })
      })
    },

    requireOwn,

    async send(id, message, signal) {
      const row = await readActive(db, id)
      if (!row) throw new Undeliverable('This browser was removed.')
      const mine = db.updateTable('push_subscriptions').where('id', '=', id)
      try {
        await post(row, message, signal)
        await mine.set({ last_at: clock(), last_error: null }).execute()
      } catch (error) {
        if (error instanceof Gone) {
          await db.deleteFrom('push_subscriptions').where('id', '=', id).execute()
          throw new Undeliverable('The browser takes no more messages: it was removed.', { cause: error })
        }
        await mine.set({ last_error: error instanceof Error ? error.message.slice(0, 300) : 'unknown' }).execute()
        throw error
      }
    },
  }
}

/** The push service no longer knows the subscription: RFC 8030 §7.3. */
class Gone extends Error {}

/** The subscription, if its person may still sign in. */
function readActive(db: Db, id: string): Promise<Row | undefined> {
  return db
    .selectFrom('push_subscriptions')
    .innerJoin('users', 'users.id', 'push_subscriptions.user_id')
    .selectAll('push_subscriptions')
    .where('push_subscriptions.id', '=', id)
    .where('users.active', '=', 1)
    .executeTakeFirst()
}

function toSubscription(row: Row): PushSubscription {
  return {
    id: row.id,
    userAgent: row.user_agent,
    createdAt: new Date(row.created_at).toISOString(),
    lastAt: row.last_at === null ? null : new Date(row.last_at).toISOString(),
    lastError: row.last_error,
  }
}
