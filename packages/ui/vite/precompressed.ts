/**
 * Puts a brotli and a gzip copy beside every larger hashed file of the build, at the highest compression. The hub sends
 * these files, instead of compressing the same script less well for every visitor.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const WORTH_IT = /^assets\/.*\.(?:js|css|svg)$/
/** Compression of smaller files saves no packet. */
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
