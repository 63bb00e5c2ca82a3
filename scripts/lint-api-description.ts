import { join } from 'node:path'
import { createConfig, lint } from '@redocly/openapi-core'

/** The gate "API description" of `npm run check`: docs/openapi.json keeps every rule that Redocly recommends. */
const ref = join(import.meta.dirname, '..', 'docs', 'openapi.json')
const problems = await lint({ ref, config: await createConfig({ extends: ['recommended'] }) })
for (const { ruleId, message, location } of problems)
  console.error(`docs/openapi.json${location[0]?.pointer ?? ''}: ${message} (${ruleId})`)
if (problems.length > 0) process.exitCode = 1
