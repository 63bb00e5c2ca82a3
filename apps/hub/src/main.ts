import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const dataDir = process.env['HUB_DATA_DIR'] || './data'

/**
 * The program's first file. Node's compile cache is in the data directory, where nobody else may write; it halves the
 * time and memory of later starts. Commands write no cache.
 */
if (process.argv.length === 2 && existsSync(dataDir)) enableCompileCache(join(dataDir, 'compile-cache'))
await import('./program.ts')
