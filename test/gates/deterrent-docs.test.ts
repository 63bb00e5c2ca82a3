import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { driverNames } from '../../apps/gateway/src/deterrents/drivers.ts'
import { parseDeviceFile } from '../../apps/gateway/src/device-file/parse.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/operations/deterrents.md'), 'utf8')
const examples = [...page.matchAll(/```yaml\n([^`]+)```/g)].map(([, text]) => text!)
/** Every variable that an example names is set. */
const environment = Object.fromEntries(
  [...page.matchAll(/\$\{([A-Z_]{1,50})\}/g)].map(([, name]) => [name!, 'a-secret-of-the-owner']),
)

it.each(examples)('an example of the deterrents’ page is a gateway.yaml without errors: %#', (text) => {
  expect(parseDeviceFile(text, { folder: '/', environment })).not.toHaveProperty('errors')
})

it('every driver has an example and a row', () => {
  const inExamples = new Set(examples.flatMap((text) => [...text.matchAll(/driver: (\w+)/g)].map(([, name]) => name)))
  const rows = [...page.matchAll(/^\| \[`(\w+)`\]\(#\1\) \|/gm)].map(([, name]) => name)
  expect([...inExamples].toSorted()).toEqual(driverNames)
  expect(rows.toSorted()).toEqual(driverNames)
})
