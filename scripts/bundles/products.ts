import { globSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

export type ProductName = 'hedgerow-hub' | 'hedgerow-gateway'

/** A program that is released as one archive. All paths begin at the root of the repository. */
export type Product = {
  name: ProductName
  /** The source file with which the program begins. */
  main: string
  /** Node's options for it. */
  nodeOptions: readonly string[]
  /** Modules that the code loads by name. Those in `new URL('./x.ts', import.meta.url)` are found without this. */
  entries: readonly string[]
  /** Files and folders that the code reads while it runs. */
  assets: readonly string[]
  /** Packages with code for one platform; they stay packages beside the bundled code. */
  native: readonly string[]
  /** Packages that are optional for the code and too large for an archive. */
  leftOut: readonly string[]
  /** The script, of `assets`, that starts it and decides between its versions; an older one may lie around it. */
  starter?: string
  /** In MB, compressed. */
  sizeGoal: number
  /** Whether it updates itself from its own archive, which then contains the script and the keys of its release. */
  updatesItself: boolean
}

/** The script that installs, switches and rolls back versions of a product that updates itself. */
export const UPDATE_SCRIPT = 'scripts/release.sh'

/**
 * For the C library (mallopt(3)). One arena for all threads: with one for each thread, decoded pictures leave much
 * memory allocated. A fixed limit from which memory is given back when it is freed: otherwise the first hash of a
 * password, which takes 19 MiB, raises the limit above its own size, and what later hashes took may stay for ever.
 */
export const ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576' } as const

export const PRODUCTS: readonly Product[] = [
  {
    name: 'hedgerow-hub',
    main: 'apps/hub/src/main.ts',
    nodeOptions: ['--max-semi-space-size=8'],
    entries: modulesOf('apps/hub/src/notifications/channels'),
    assets: [
      'apps/hub/src/downloads/as-user.sh',
      'apps/hub/src/downloads/install.sh',
      'apps/hub/src/downloads/settings-folder.sh',
      'apps/hub/src/http/api-page.css',
      'apps/portal/dist',
      'apps/public/dist',
    ],
    native: ['sharp', '@node-rs/argon2'],
    leftOut: [],
    sizeGoal: 45,
    updatesItself: true,
  },
  {
    name: 'hedgerow-gateway',
    main: 'apps/gateway/src/main.ts',
    nodeOptions: ['--max-semi-space-size=1', '--efficiency-mode', '--optimize-for-size'],
    entries: modulesOf('apps/gateway/src/deterrents/drivers'),
    assets: [
      'apps/gateway/src/local/device-ui/device.css',
      'apps/gateway/src/local/device-ui/device.js',
      'apps/gateway/src/update/launch.sh',
      'apps/gateway-ui/dist',
    ],
    native: ['sharp'],
    leftOut: ['onnxruntime-node'],
    starter: 'apps/gateway/src/update/launch.sh',
    sizeGoal: 35,
    updatesItself: false,
  },
]

function modulesOf(folder: string): string[] {
  return globSync(`${folder}/*.ts`, { cwd: ROOT })
    .filter((file) => !file.endsWith('.test.ts'))
    .toSorted()
}
