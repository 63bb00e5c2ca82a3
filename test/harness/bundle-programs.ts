import { copyFile, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { bundle } from '../../scripts/bundles/bundle.ts'
import { PRODUCTS, type Product } from '../../scripts/bundles/products.ts'
import { putInPlace } from '../../scripts/put-in-place.ts'
import { STARTED_ADMIN, startHub } from './hub.ts'
import { BUNDLES, commandOf, STARTED_DATABASE } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')

let bundled: Promise<void> | undefined

/**
 * Bundles the code of the hub and of the agent as a release does, once for a run of several projects. A bundle starts
 * faster than its sources, and a run starts many programs.
 */
export default function bundlePrograms(): Promise<void> {
  return (bundled ??= writePrograms())
}

async function writePrograms(): Promise<void> {
  for (const product of PRODUCTS) await writeProgram(product, join(BUNDLES, product.name))
  await keepStartedDatabase()
}

/** Hubs may share an admin and a CA. Each makes the other keys for itself, as at a first start. */
async function keepStartedDatabase(): Promise<void> {
  const hub = await startHub({
    command: [process.execPath, ...commandOf('hedgerow-hub', true)],
    env: { HUB_ADMIN_PASSWORD: STARTED_ADMIN.password },
  })
  const file = `${STARTED_DATABASE}-${process.pid}`
  try {
    await hub.process().stop()
    await copyFile(join(hub.dataDir, 'hub.sqlite'), file)
  } finally {
    await hub.stop()
  }
  const database = new DatabaseSync(file)
  database.exec("delete from secrets where name not in ('certificate-authority', 'tls-certificate')")
  database.close()
  await rename(file, STARTED_DATABASE)
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
