import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDeviceFile } from '../../apps/gateway/src/device-file/parse.ts'
import { GATEWAY_YAML_PAGE, withOptions } from '../../scripts/gateway-yaml-page.ts'

const OPERATIONS = join(import.meta.dirname, '../../docs/operations')
const page = readFileSync(GATEWAY_YAML_PAGE, 'utf8')

describe('docs/operations/gateway-yaml.md', () => {
  it('lists every option as the schema has it (npm run gateway-yaml-page)', () => {
    expect(page).toBe(withOptions(page))
  })

  it.each(['gateway-yaml.md', 'device-api.md'])('%s has examples without errors', (name) => {
    const text = readFileSync(join(OPERATIONS, name), 'utf8')
    const examples = [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, example]) => example!)
    expect(examples.length).toBeGreaterThan(0)
    const environment = { API_TOKEN: 'a-token-for-programs', GATE_PASSWORD: 'secret' }
    for (const example of examples)
      expect(parseDeviceFile(example, { folder: OPERATIONS, environment }).errors).toBeUndefined()
  })
})
