import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { build, unpackNode } from '../scripts/bundles/build.ts'
import type { Platform } from '../scripts/bundles/locked-packages.ts'
import { PRODUCTS, type ProductName } from '../scripts/bundles/products.ts'
import { ensureGatewayUiBuilt, ensureWebBuilt } from '../scripts/web-build.ts'

/** Builds a product of a release for this machine below `into`; returns its program, which starts its own Node. */
export async function buildProgram(name: ProductName, into: string): Promise<string> {
  await (name === 'hedgerow-hub' ? ensureWebBuilt() : ensureGatewayUiBuilt())
  const product = PRODUCTS.find((one) => one.name === name)!
  const platform = { os: process.platform, cpu: process.arch } as Platform
  const node = await unpackNode(platform, into)
  const { folder } = await build(product, platform, { version: '0.0.0', number: 0, into, node })
  // The kernel maps more of a file that was just written than of one that it reads when the machine starts.
  execFileSync('sync')
  execFileSync('dd', [`if=${join(folder, 'bin/node')}`, 'iflag=nocache', 'count=0', 'status=none'])
  return join(folder, 'bin', product.name)
}
