/**
 * The whole list of the fleet for managers and admins. A large one is megabytes that take a tenth of a second to put into
 * words, so it is made in slices between other requests, packed on another thread, and kept: whoever asks again within a
 * second gets the same bytes, and up to five seconds later too, while a new one is made. A call that changes the fleet
 * ends it at once. A small fleet's list is made anew for each who asks.
 */
import { promisify } from 'node:util'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompress, constants } from 'node:zlib'
import { listGateways, type Gateway } from '@hedgerow/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fleetInSlices, type ListDependencies } from './gateways.ts'

const LARGE_FLEET = 1_000
const GATEWAYS_AT_ONCE = 200
const FRESH_MS = 1_000
const SHOWN_MS = 5_000
const BROTLI_QUALITY = 4
/** Of windows: rows resemble their neighbours, so a larger one costs time and gains nothing. */
const BROTLI_WINDOW_BITS = 18

const pack = promisify(brotliCompress)

type Packed = { madeAt: number; plain: Buffer; brotli: Buffer }

export type WholeList = {
  /** The gateways or, of a large fleet, the bytes that stand for them. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<Gateway[] | Buffer>
  /** Makes the list anew after the calls that change it. Call it before other routes. */
  forgetWhatCallsChange(app: FastifyInstance, isChange: (request: FastifyRequest) => boolean): void
}

export function createWholeList(db: Kysely<Tables>, dependencies: ListDependencies): WholeList {
  const { clock } = dependencies.signals
  let isLarge = false
  let packed: Packed | undefined
  let making: Promise<Packed> | undefined

  async function make(): Promise<Packed> {
    const madeAt = clock()
    const slices: string[] = []
    let count = 0
    for await (const gateways of fleetInSlices(db, dependencies, GATEWAYS_AT_ONCE)) {
      count += gateways.length
      slices.push(JSON.stringify(listGateways.response.encode(gateways)).slice(1, -1))
      await nextTurn()
    }
    isLarge = count >= LARGE_FLEET
    const plain = Buffer.from(`[${slices.join(',')}]`)
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    }
    return { madeAt, plain, brotli: await pack(plain, { params }) }
  }

  /** One at a time; what a call made out of date meanwhile is not kept. */
  function makeAnew(): Promise<Packed> {
    if (making) return making
    const mine = make().then(
      (made) => {
        if (making === mine) [packed, making] = [made, undefined]
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

  async function current(): Promise<Packed> {
    if (!packed) return makeAnew()
    const ageMs = Math.abs(clock() - packed.madeAt)
    if (ageMs < FRESH_MS) return packed
    if (ageMs >= SHOWN_MS) return makeAnew()
    // Whoever needs the new one hears why it could not be made.
    makeAnew().catch(() => {})
    return packed
  }

  return {
    async answer(request, reply) {
      if (!isLarge) {
        const gateways: Gateway[] = []
        for await (const slice of fleetInSlices(db, dependencies, GATEWAYS_AT_ONCE)) gateways.push(...slice)
        isLarge = gateways.length >= LARGE_FLEET
        return gateways
      }
      const { plain, brotli } = await current()
      reply.type('application/json; charset=utf-8')
      if (!/\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(request.headers['accept-encoding'] ?? '')))
        return plain
      reply.header('content-encoding', 'br').header('vary', 'accept-encoding')
      return brotli
    },
    forgetWhatCallsChange(app, isChange) {
      app.addHook('onSend', async (request, reply, payload) => {
        if (reply.statusCode < 300 && isChange(request)) [packed, making] = [undefined, undefined]
        return payload
      })
    },
  }
}
