import { join } from 'node:path'
import { PRODUCTS, type ProductName } from '../../scripts/bundles/products.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Below the packages of the repository, so that the bundles find those with code for one platform. */
export const BUNDLES = join(ROOT, 'node_modules/.cache/hedgerow/programs')

/** Node's arguments to start a product: from its bundle where `TEST_BUNDLES` is on, otherwise from its sources. */
export function commandOf(name: ProductName): string[] {
  const { main, nodeOptions } = PRODUCTS.find((product) => product.name === name)!
  const isBundled = process.env['TEST_BUNDLES'] === 'on'
  return [...nodeOptions, isBundled ? join(BUNDLES, name, 'lib', main.replace(/\.ts$/, '.js')) : join(ROOT, main)]
}
