/**
 * The whole fleet list for managers and admins. It is built in slices between other requests and compressed on another
 * thread, once for all concurrent requests. A large list is megabytes and takes a tenth of a second to serialize, so it
 * is cached: for one to four seconds every request gets the same bytes, and for up to five while a new list is built. A
 * change of the fleet invalidates the cached list and one under construction.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FactKind } from '@hedgerow/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { dropAfter } from '../facts/facts.ts'
import { fleetInSlices, LARGE_FLEET, wholeFleet, type ListDependencies } from './fleet.ts'
import type { FleetSearch } from './search.ts'

const FRESH_MS = 1_000
/** Building the list of 10,000 gateways takes as long as many answers, so it is then used for 4 s. */
const FRESH_FOR_EACH_MS = 0.4
const SHOWN_MS = 5_000
const BROTLI_QUALITY = 4
/** Brotli's window. Rows resemble their neighbours, so a larger window costs time and memory and gains nothing. */
const BROTLI_WINDOW_BITS = 18

const compress = promisify(brotliCompress)

type Made = { at: number; count: number; plain: Buffer; packed(): Promise<Buffer> }

export type FleetListCache = {
  /** Answers with the list as JSON, compressed if the client accepts it. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<Buffer>
}

/** Facts that change a row of the list. The hub's signals change it too, and show after a second. */
const STALE_AFTER = [
  'gateway.added',
  'gateway.approved',
  'gateway.rekeyed',
  'gateway.edited',
  'gateway.renamed',
  'gateway.tagged',
  'gateway.claimed',
  'gateway.deleted',
  'gateway.status-changed',
  'user.updated',
  'user.deleted',
] as const satisfies FactKind[]

export function createFleetListCache(
  db: Kysely<Tables>,
  search: FleetSearch,
  dependencies: ListDependencies,
): FleetListCache {
  const { clock } = dependencies.signals
  let kept: Made | undefined
  let making: Promise<Made> | undefined
  /** How many the last list had: a large one is read in slices. */
  let lastCount = 0

  async function make(): Promise<Made> {
    const at = clock()
    const slices: string[] = []
    let count = 0
    const read = isLarge(lastCount) ? fleetInSlices(db, search, dependencies) : [await wholeFleet(db, dependencies)]
    for await (const gateways of read) {
      count += gateways.length
      // Not checked against the contract, as other answers are: for 10,000 gateways that is a sixth of all objects that
      // a busy hub makes. `Gateway` is the contract's own type.
      slices.push(JSON.stringify(gateways).slice(1, -1))
    }
    const plain = Buffer.from(`[${slices.join(',')}]`)
    let packing: Promise<Buffer> | undefined
    lastCount = count
    return { at, count, plain, packed: () => (packing ??= pack(plain)) }
  }

  /** Builds one list at a time; a list that a change outdated meanwhile is not cached. */
  function makeAnew(): Promise<Made> {
    if (making) return making
    const mine = make().then(
      (made) => {
        if (making === mine) [kept, making] = [isLarge(made.count) ? made : undefined, undefined]
        return made
      },
      (error: unknown) => {
        if (making === mine) making = undefined
        throw error
      },
    )
    making = mine
    return mine
  }

  async function current(): Promise<Made> {
    if (!kept) return makeAnew()
    const ageMs = Math.abs(clock() - kept.at)
    if (ageMs < freshMs(kept.count)) return kept
    if (ageMs >= SHOWN_MS) return makeAnew()
    // Callers that need the new list get its error.
    makeAnew().catch(() => {})
    return kept
  }

  dropAfter(db, 'fleet-list-cache', STALE_AFTER, () => {
    ;[kept, making] = [undefined, undefined]
  })

  return {
    async answer(request, reply) {
      const { plain, packed } = await current()
      reply.type('application/json; charset=utf-8')
      if (!/\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(request.headers['accept-encoding'] ?? '')))
        return plain
      reply.header('content-encoding', 'br').header('vary', 'accept-encoding')
      return packed()
    },
  }
}

const isLarge = (count: number) => count >= LARGE_FLEET

const freshMs = (count: number) => Math.min(SHOWN_MS, Math.max(FRESH_MS, count * FRESH_FOR_EACH_MS))

function pack(plain: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  }
  return compress(plain, { params })
}
