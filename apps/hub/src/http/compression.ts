import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'

const THRESHOLD_BYTES = 1_024
/** Level 4 of 11 has most of the gain for little of the time. */
const BROTLI_QUALITY = 4
/** Each answer being compressed has its own window; the default of 4 MB is more than nearly any answer. */
const BROTLI_WINDOW_BITS = 18

/**
 * Compresses answers, and never decompresses requests: a small body that becomes a huge one would pass the body limit.
 * Await it before the first route, because only later routes are compressed.
 */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    globalDecompression: false,
    encodings: ['br', 'gzip', 'identity'],
    threshold: THRESHOLD_BYTES,
    brotliOptions: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
      },
    },
  })
}
