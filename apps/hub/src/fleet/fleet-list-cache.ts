/**
 * The whole list of the fleet for managers and admins. It is made in slices between other requests and packed on
 * another thread, once for all who ask meanwhile. A large one is megabytes that take a tenth of a second to put into
 * words, so it is kept: whoever asks again within a second gets the same bytes, and up to five seconds later too, while
 * a new one is made. A change of the fleet ends what is kept and what is being made.
 */
import { promisify } from 'node:util'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompress, constants } from 'node:zlib'
import { listGateways, type FactKind } from '@hedgerow/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { dropAfter } from '../facts/facts.ts'
import { fleetInSlices, type ListDependencies } from './fleet.ts'

const LARGE_FLEET = 1_000
const GATEWAYS_AT_ONCE = 200
const FRESH_MS = 1_000
const SHOWN_MS = 5_000
const BROTLI_QUALITY = 4
/** Of windows: rows resemble their neighbours, so a larger one costs time and memory and gains nothing. */
const BROTLI_WINDOW_BITS = 18

const compress = promisify(brotliCompress)

type Made = { at: number; isLarge: boolean; plain: Buffer; packed(): Promise<Buffer> }

export type FleetListCache = {
  /** The list as JSON, packed for who can unpack it. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<Buffer>
}

/** What a row of the list shows; the hub's signals change it too, and are seen after a second. */
const STALE_AFTER = [
  'gateway.added',
  'gateway.approved',
  'gateway.rekeyed',
  'gateway.edited',
  'gateway.renamed',
  'gateway.claimed',
  'gateway.deleted',
  'gateway.status-changed',
  'user.updated',
  'user.deleted',
] as const satisfies FactKind[]

export function createFleetListCache(db: Kysely<Tables>, dependencies: ListDependencies): FleetListCache {
  const { clock } = dependencies.signals
  let kept: Made | undefined
  let making: Promise<Made> | undefined

  async function make(): Promise<Made> {
    const at = clock()
    const slices: string[] = []
    let count = 0
    for await (const gateways of fleetInSlices(db, dependencies, GATEWAYS_AT_ONCE)) {
      count += gateways.length
      slices.push(JSON.stringify(listGateways.response.encode(gateways)).slice(1, -1))
      await nextTurn()
    }
    const plain = Buffer.from(`[${slices.join(',')}]`)
    let packing: Promise<Buffer> | undefined
    return { at, isLarge: count >= LARGE_FLEET, plain, packed: () => (packing ??= pack(plain)) }
  }

  /** One at a time; what a change made out of date meanwhile is not kept. */
  function makeAnew(): Promise<Made> {
    if (making) return making
    const mine = make().then(
      (made) => {
        if (making === mine) [kept, making] = [made.isLarge ? made : undefined, undefined]
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
    if (ageMs < FRESH_MS) return kept
    if (ageMs >= SHOWN_MS) return makeAnew()
    // Whoever needs the new one hears why it could not be made.
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

function pack(plain: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  }
  return compress(plain, { params })
}
