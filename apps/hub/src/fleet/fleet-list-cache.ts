/**
 * The whole fleet list for managers and admins. It is built in slices between other requests and compressed on another
 * thread, once for all concurrent requests. A large list is megabytes and slow to serialize, so it is
 * kept: for one to five seconds every request gets the same bytes.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FactKind } from '@hedgerow/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { kept } from '../facts/kept.ts'
import { fleetInSlices, LARGE_FLEET, wholeFleet, type ListDependencies } from './fleet.ts'
import type { FleetSearch } from './search.ts'

const KEPT_MS = 1_200
/** Building the list of 10,000 gateways takes as long as many answers, so it is then used for almost 5 s. */
const KEPT_FOR_EACH_MS = 0.48
const LONGEST_MS = 5_000
const BROTLI_QUALITY = 4
/** Brotli's window. Rows resemble their neighbours, so a larger window costs time and memory and gains nothing. */
const BROTLI_WINDOW_BITS = 18

const compress = promisify(brotliCompress)

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
  /** How many the last list had: a large one is read in slices. */
  let lastCount = 0
  const packed = new WeakMap<Buffer, Promise<Buffer>>()

  const current = kept(db, { name: 'fleet-list-cache', kinds: STALE_AFTER, maxAgeMs }, async () => {
    const parts: string[] = []
    let count = 0
    const read = isLarge(lastCount) ? fleetInSlices(db, search, dependencies) : [await wholeFleet(db, dependencies)]
    for await (const gateways of read) {
      count += gateways.length
      // Not checked against the contract, as other answers are: for 10,000 gateways that is a sixth of all objects that
      // a busy hub makes. `Gateway` is the contract's own type.
      parts.push(JSON.stringify(gateways).slice(1, -1))
    }
    lastCount = count
    return { count, plain: Buffer.from(`[${parts.join(',')}]`) }
  })

  return {
    async answer(request, reply) {
      const { plain } = await current()
      reply.type('application/json; charset=utf-8')
      if (!/\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(request.headers['accept-encoding'] ?? '')))
        return plain
      reply.header('content-encoding', 'br').header('vary', 'accept-encoding')
      return packed.getOrInsertComputed(plain, pack)
    },
  }
}

const isLarge = (count: number) => count >= LARGE_FLEET

const maxAgeMs = ({ count }: { count: number }) =>
  isLarge(count) ? Math.min(LONGEST_MS, Math.max(KEPT_MS, count * KEPT_FOR_EACH_MS)) : 0

function pack(plain: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  }
  return compress(plain, { params })
}
