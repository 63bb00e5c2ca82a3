import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { AGENT_COMMAND } from '../harness/agent.ts'
import { HUB_COMMAND } from '../harness/hub.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

test.each([
  { name: 'hub', command: HUB_COMMAND, starts: ['start'] },
  { name: 'gateway', command: AGENT_COMMAND, starts: [] },
])('npm scripts and the systemd unit start a $name as tests and benches do', ({ name, command, starts }) => {
  const [flags, main] = [command.slice(0, -1).join(' '), relative(ROOT, command.at(-1)!)]
  expect(scripts[name]).toBe(`exec node ${flags} ${main}`)
  for (const script of starts) expect(scripts[script]).toBe(`exec node ${flags} scripts/start.ts`)
  expect(read('docs/operations/systemd.md')).toContain(
    `ExecStart=/opt/hedgerow/current/node_modules/.bin/node ${flags} ${main}\n`,
  )
})
