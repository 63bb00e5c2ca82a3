import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'

const THRESHOLD_BYTES = 1_024
/** Of 11: most of the gain for a tenth of the time, which answers made on the fly must not take. */
const BROTLI_QUALITY = 4
/** Each answer under way has a window of its own, of 4 MB unless said otherwise: more than nearly any answer. */
const BROTLI_WINDOW_BITS = 18

/**
 * Compresses answers, and never unpacks requests: a small body that becomes a huge one would pass the body limit.
 * Awaited before the first route, as only later ones are compressed.
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
