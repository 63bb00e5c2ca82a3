import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../apps/hub/src/http/openapi.ts'
import { API_PAGE, withContract } from './api-page.ts'

/** `npm run api-snapshot`: rewrites docs/openapi.json and docs/api.md after a change of the contract; review both. */
writeFileSync(join(import.meta.dirname, '..', 'docs', 'openapi.json'), `${JSON.stringify(describeApi(), null, 2)}\n`)
writeFileSync(API_PAGE, withContract(readFileSync(API_PAGE, 'utf8')))
