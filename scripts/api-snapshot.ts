import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../apps/hub/src/http/openapi.ts'

/** `npm run api-snapshot`: writes docs/openapi.json anew after a change of the contract, to be reviewed like code. */
writeFileSync(join(import.meta.dirname, '..', 'docs', 'openapi.json'), `${JSON.stringify(describeApi(), null, 2)}\n`)
