import { join } from 'node:path'
import { PRODUCTS, type ProductName } from '../../scripts/bundles/products.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Below the packages of the repository, so that the bundles find those with code for one platform. */
export const BUNDLES = join(ROOT, 'node_modules/.cache/hedgerow/programs')

/** A database as the first start of a hub leaves it, made with the bundles. */
export const STARTED_DATABASE = join(BUNDLES, 'started-hub.sqlite')

/** Node's arguments to start a product: from its bundle where `TEST_BUNDLES` is on, otherwise from its sources. */
export function commandOf(name: ProductName, isBundled = process.env['TEST_BUNDLES'] === 'on'): string[] {
  const { main, nodeOptions } = PRODUCTS.find((product) => product.name === name)!
  return [...nodeOptions, isBundled ? join(BUNDLES, name, 'lib', main.replace(/\.ts$/, '.js')) : join(ROOT, main)]
}
