import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../apps/hub/src/http/openapi.ts'

/** `npm run api-snapshot`: rewrites docs/openapi.json after a change of the contract; review it like code. */
writeFileSync(join(import.meta.dirname, '..', 'docs', 'openapi.json'), `${JSON.stringify(describeApi(), null, 2)}\n`)
