/**
 * The whole fleet list for managers and admins. It is built in slices between other requests and compressed on another
 * thread, once for all concurrent requests. A large list is megabytes and slow to serialize, so it is
 * kept: for one to five seconds every request gets the same bytes.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { cachedRead } from '../facts/cached-read.ts'
import { presentInSlices, type ListDependencies } from './fleet.ts'
import { FLEET_FACTS } from './snapshot.ts'

/** The list of a smaller fleet is made for each that asks. */
const LARGE_FLEET = 1_000
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

export function createFleetListCache(db: Kysely<Tables>, dependencies: ListDependencies): FleetListCache {
  const packed = new WeakMap<Buffer, Promise<Buffer>>()

  // The hub's signals change the list too, and show after a second.
  const kinds = [...FLEET_FACTS, 'gateway.status-changed'] as const
  const current = cachedRead(db, { name: 'fleet-list-cache', kinds, maxAgeMs }, async () => {
    const parts: string[] = []
    const fleet = await dependencies.fleet()
    // Not checked against the contract, as other answers are: for 10,000 gateways that is a sixth of all objects that a
    // busy hub makes. `Gateway` is the contract's own type.
    for await (const gateways of presentInSlices(fleet, dependencies)) parts.push(JSON.stringify(gateways).slice(1, -1))
    return { count: fleet.length, plain: Buffer.from(`[${parts.join(',')}]`) }
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

const maxAgeMs = ({ count }: { count: number }) =>
  count < LARGE_FLEET ? 0 : Math.min(LONGEST_MS, Math.max(KEPT_MS, count * KEPT_FOR_EACH_MS))

function pack(plain: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  }
  return compress(plain, { params })
}
