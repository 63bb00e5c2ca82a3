import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { HUB_COMMAND } from '../harness/hub.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const [flags, main] = [HUB_COMMAND.slice(0, -1).join(' '), relative(ROOT, HUB_COMMAND.at(-1)!)]

test('npm scripts and the systemd unit start a hub as tests and benches do', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  expect(scripts['hub']).toBe(`exec node ${flags} ${main}`)
  expect(scripts['start']).toBe(`exec node ${flags} scripts/start.ts`)
  expect(read('docs/operations/systemd.md')).toContain(
    `ExecStart=/opt/hedgerow/current/node_modules/.bin/node ${flags} ${main}\n`,
  )
})
