/**
 * Puts a brotli and a gzip twin beside every larger hashed file of the build, as small as they can be made: the hub
 * sends these as they are, instead of compressing the same script for every visitor, quickly and less well.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const WORTH_IT = /^assets\/.*\.(?:js|css|svg)$/
/** Below this, compression saves no packet. */
const THRESHOLD_BYTES = 1_024

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }

export const precompressed: Plugin = {
  name: 'precompressed',
  apply: 'build',
  writeBundle: {
    order: 'post',
    async handler({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => WORTH_IT.test(name))
      await Promise.all(names.map((name) => writeTwins(join(dir, name))))
    },
  },
}

async function writeTwins(path: string): Promise<void> {
  const whole = await readFile(path)
  if (whole.length < THRESHOLD_BYTES) return
  const [brotli, zipped] = await Promise.all([
    promisify(brotliCompress)(whole, brotliOptions),
    promisify(gzip)(whole, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, zipped)])
}
