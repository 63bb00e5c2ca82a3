import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { ENVIRONMENT, PRODUCTS } from '../../scripts/bundles/products.ts'
import { AGENT_COMMAND } from '../harness/agent.ts'
import { HUB_COMMAND } from '../harness/hub.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const settings = Object.entries(ENVIRONMENT)
  .map((entry) => entry.join('='))
  .join(' ')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

test.each([
  { name: 'hub', command: HUB_COMMAND, starts: { hub: 'apps/hub/src/main.ts', start: 'scripts/start.ts' } },
  { name: 'gateway', command: AGENT_COMMAND, starts: { gateway: 'scripts/gateway.ts' } },
])('npm scripts, archives and the systemd unit start a $name as tests and benches do', ({ name, command, starts }) => {
  const [flags, main] = [command.slice(0, -1), relative(ROOT, command.at(-1)!)]
  for (const [script, file] of Object.entries(starts))
    expect(scripts[script]).toBe(`exec env ${settings} sh scripts/node.sh ${flags.join(' ')} ${file}`)
  expect(PRODUCTS.find((product) => product.name === `hedgerow-${name}`)).toMatchObject({ main, nodeOptions: flags })
  expect(read(`deploy/images/${name}.Containerfile`)).toMatch(new RegExp(`^ENV .* ${settings}$`, 'm'))
  const [unit] = read('docs/operations/systemd.md')
    .replaceAll(/ \\\n */g, ' ')
    .split(/^(?=    \[Unit\]$)/m)
    .filter((text) => text.includes(main))
  expect(unit).toContain(`Environment=${settings}\n`)
  expect(unit).toContain(`ExecStart=/bin/sh /opt/hedgerow/current/scripts/node.sh ${flags.join(' ')} ${main}\n`)
})
