/**
 * Sends the entries of the device's ledger to the hub, all and in order. A small file holds the last entry that the hub
 * acknowledged; when the file is behind, the hub gets entries again and keeps each once.
 */
import {
  LEDGER_ENTRIES_AT_ONCE,
  LEDGER_OF_PEOPLE,
  LEDGER_OF_SNOOZES,
  reportLedger,
  type LedgerEntry,
} from '@hedgerow/contract'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Deterrents } from '../deterrents/deterrents.ts'
import { toldEntry } from '../deterrents/told-entry.ts'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'
import type { HubFeatures } from './features.ts'
import { inWords } from '../kernel/failure.ts'
import { HubRefusal } from '../kernel/http-call.ts'
import { sendPastRefusals } from './past-refusals.ts'
import { keepSending, type Post, type Sender } from './sending.ts'

const OF_PEOPLE: ReadonlySet<string> = new Set(LEDGER_OF_PEOPLE)
const OF_SNOOZES: ReadonlySet<string> = new Set(LEDGER_OF_SNOOZES)

const cursorFile = z.object({ gatewayId: z.string(), id: z.number().int().min(0) })

export function keepSendingLedger(options: {
  deterrents: Pick<Deterrents, 'ledger' | 'ledgerAfter' | 'onEntry'>
  /** The file with the last entry that the hub has. */
  path: string
  /** A hub that knows this device as another gateway gets the whole ledger. */
  gatewayId: () => string | undefined
  wayToHub: () => Post | undefined
  features: Pick<HubFeatures, 'has'>
  log: Logger
  signal: AbortSignal
}): Sender {
  const { deterrents, path, wayToHub, features, log, signal } = options
  let cursor: z.output<typeof cursorFile> | undefined

  async function readCursor(gatewayId: string): Promise<number> {
    if (cursor?.gatewayId === gatewayId) return cursor.id
    const stored = await readJsonFile(path, cursorFile).catch((error: unknown) => {
      log.warn({ err: error }, 'the hub gets the whole ledger again')
      return undefined
    })
    const [newest] = await deterrents.ledger({ limit: 1 })
    // A new ledger counts from 1 again.
    const isOfThisLedger = stored !== undefined && stored.id <= (newest?.id ?? 0)
    cursor = { gatewayId, id: stored?.gatewayId === gatewayId && isOfThisLedger ? stored.id : 0 }
    return cursor.id
  }

  /** An entry that the hub never accepts must not hold up the others. */
  async function deliver(post: Post, entries: LedgerEntry[]): Promise<boolean> {
    try {
      await post(reportLedger, { entries })
      return true
    } catch (error) {
      if (!(error instanceof HubRefusal) || error.code !== 'invalid_request') throw error
      let isAnySent = false
      if (entries.length > 1) for (const entry of entries) isAnySent = (await deliver(post, [entry])) || isAnySent
      else skip(entries[0], error.message)
      return isAnySent
    }
  }

  function skip(entry: LedgerEntry | undefined, reason: string): void {
    log.error({ entry, reason }, 'the hub refuses an entry of the ledger')
  }

  /** An older hub refuses the kinds that it does not know: it never gets them. */
  const known = (entries: LedgerEntry[]) =>
    entries.filter(
      ({ kind }) =>
        (features.has('ledger-of-people') || !OF_PEOPLE.has(kind)) && (features.has('snooze') || !OF_SNOOZES.has(kind)),
    )

  const sender = keepSending({
    wayToHub,
    async sendNext(post) {
      const gatewayId = options.gatewayId()
      if (!features.has('ledger') || gatewayId === undefined) return false
      const entries = await deterrents.ledgerAfter(await readCursor(gatewayId), LEDGER_ENTRIES_AT_ONCE)
      const last = entries.at(-1)
      if (!last) return false
      const refused = await sendPastRefusals(known(entries.map(toldEntry)), {
        send: (part) => deliver(post, part),
        following: async () => known((await deterrents.ledgerAfter(last.id, LEDGER_ENTRIES_AT_ONCE)).map(toldEntry)),
      })
      for (const entry of refused) skip(entry, 'the hub accepts others')
      cursor = { gatewayId, id: last.id }
      await writeDurably(path, JSON.stringify(cursor))
      return true
    },
    onFailure: (error, retryAfterMs) =>
      log.warn({ retryAfterMs, reason: inWords(error) }, 'the ledger waits for the hub'),
    signal,
  })
  deterrents.onEntry(sender.wake)
  return sender
}
