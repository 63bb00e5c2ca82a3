import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const dataDir = process.env['HUB_DATA_DIR'] || './data'

/**
 * The program's first file. What Node makes of the sources is kept in the data directory, where nobody else may write,
 * so that a start takes half the time and memory of the first ones. Commands leave nothing behind.
 */
if (process.argv.length === 2 && existsSync(dataDir)) enableCompileCache(join(dataDir, 'compile-cache'))
await import('./program.ts')
