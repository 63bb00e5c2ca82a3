/**
 * Compiles the AssemblyScript of this folder to `chacha20-poly1305.wasm`, which is committed beside it and loaded by
 * `src/node/wasm-aead.ts`. The sources end in `.as`, because TypeScript does not know their vectors and pointers.
 * `npm run build:aead` writes the file; a test builds it again and compares the bytes.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import asc from 'assemblyscript/asc'

/** Two pages of 64 KiB hold the largest UDP datagram and everything around it. */
const PAGES = '2'
const NAME = 'chacha20-poly1305'
const output = join(import.meta.dirname, `${NAME}.wasm`)

const FLAGS = ['-O3', '--converge', '--noAssert', '--runtime', 'stub', '--use', 'abort=', '--enable', 'simd']

/** The bytes of the module that exports what the source `name` exports; the same for the same sources and compiler. */
export async function compile(name: string = NAME): Promise<Uint8Array<ArrayBuffer>> {
  let compiled: Uint8Array<ArrayBuffer> | undefined
  const { error, stderr } = await asc.main(
    [`${name}.ts`, '--outFile', 'out.wasm', ...FLAGS, '--initialMemory', PAGES, '--maximumMemory', PAGES],
    {
      readFile: readSource,
      listFiles: () => [],
      writeFile: (_name, contents) => {
        if (typeof contents !== 'string') compiled = new Uint8Array(contents)
      },
    },
  )
  if (error !== null || compiled === undefined) throw new Error(stderr.toString(), { cause: error })
  return compiled
}

/** The compiler asks for `.ts`, here and in its own library, which it finds by itself when this returns null. */
function readSource(name: string): string | null {
  try {
    return readFileSync(join(import.meta.dirname, name.replace(/\.ts$/, '.as')), 'utf8')
  } catch {
    return null
  }
}

if (import.meta.main) writeFileSync(output, await compile())
