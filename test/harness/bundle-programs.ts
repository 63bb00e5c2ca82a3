import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bundle } from '../../scripts/bundles/bundle.ts'
import { PRODUCTS, type Product } from '../../scripts/bundles/products.ts'
import { putInPlace } from '../../scripts/put-in-place.ts'
import { BUNDLES } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')

let bundled: Promise<void> | undefined

/**
 * Bundles the code of the hub and of the agent as a release does, once for a run of several projects. A bundle starts
 * in half the processor time of its sources, and a run starts some two hundred programs.
 */
export default function bundlePrograms(): Promise<void> {
  return (bundled ??= writePrograms())
}

async function writePrograms(): Promise<void> {
  for (const product of PRODUCTS) await writeProgram(product, join(BUNDLES, product.name))
}

async function writeProgram(product: Product, place: string): Promise<void> {
  const folder = `${place}-${process.pid}`
  const lib = join(folder, 'lib')
  await bundle(product, lib)
  await writeFile(join(lib, 'package.json'), '{ "type": "module" }\n')
  // The number of the sources: no release has it.
  await writeFile(join(folder, 'version.json'), JSON.stringify({ version: '0.1.0', number: 0 }))
  for (const asset of product.assets) {
    await mkdir(dirname(join(lib, asset)), { recursive: true })
    await symlink(join(ROOT, asset), join(lib, asset))
  }
  await putInPlace(folder, place)
}
