import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../harness/child-process.ts'
import { copyTree } from '../harness/copy-of-tree.ts'

/**
 * The README's first command, `npm ci && npm run demo`, with the npm and the Node that people have. Each Node and npm
 * is fetched as a package by the machine's own npm, whose cache all installations share. It takes minutes, so
 * `npm test` leaves it out; `.ci/run` does not.
 */
const isAsked = process.env['TEST_INSTALLS'] === 'on'
if (!isAsked) console.log('skipped: installations by npm ci: npm run test:installs runs them')

const ROOT = join(import.meta.dirname, '../..')
const PAGES = ['portal', 'public', 'gateway-ui'].map((app) => `apps/${app}/dist`)
const TIMEOUT_MS = 600_000

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-npm-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Fetches a package and returns the folder that holds its files. */
function fetched(name: string): string {
  const at = join(folder, name)
  if (existsSync(at)) return at
  mkdirSync(at)
  execFileSync('npm', ['pack', '--silent', '--prefer-offline', '--pack-destination', at, name], { cwd: at })
  execFileSync('sh', ['-c', 'tar -xzf *.tgz --strip-components=1 && rm *.tgz'], { cwd: at })
  return at
}

const nodeFolder = (version: string) => join(fetched(`node-linux-${process.arch}@${version}`), 'bin')

/** A PATH where `node` and `npm` have these versions. */
function pathWith(node: string, npm: string): string {
  const programs = join(folder, `path-${node}-${npm}`)
  mkdirSync(programs)
  symlinkSync(join(fetched(`npm@${npm}`), 'bin/npm-cli.js'), join(programs, 'npm'))
  return [programs, nodeFolder(node), '/usr/bin', '/bin'].join(':')
}

describe.skipIf(!isAsked || process.platform !== 'linux')('the demo starts from a fresh clone', () => {
  // The oldest of each: Node 20.0 is not in it because npm 10 came later. Ranges of packages begin at 20.9 to 22.12.
  test.each([
    { npm: '9.2.0', node: '20.18.1' },
    { npm: '10.8.2', node: '22.11.0' },
    { npm: '11.6.2', node: '24.0.0' },
  ])('with npm $npm and Node $node', { timeout: TIMEOUT_MS }, async ({ npm, node }) => {
    const clone = join(folder, `clone-${npm}`)
    copyTree(clone)
    const env = { PATH: pathWith(node, npm), NPM_CONFIG_PREFER_OFFLINE: 'true', NPM_CONFIG_UPDATE_NOTIFIER: 'false' }
    const inClone = (...args: string[]) => startChild('env', ['-C', clone, 'npm', ...args], { env })
    const installation = await inClone('ci')
    expect(await installation.ended, installation.output()).toMatchObject({ code: 0 })
    // The pages are the same with each; the first demo builds them.
    const built = join(folder, 'pages')
    if (existsSync(built)) for (const page of PAGES) cpSync(join(built, page), join(clone, page), { recursive: true })
    const demo = await inClone('run', 'demo')
    try {
      const [, url = ''] = await demo.says(/^Hub: (http:\/\/localhost:\d+)$/m, 240_000)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      expect(await (await fetch(url)).text()).toContain('<title>')
      for (const page of PAGES) cpSync(join(clone, page), join(built, page), { recursive: true })
    } finally {
      await demo.stop()
      rmSync(clone, { recursive: true, force: true })
    }
  })

  test('an older Node is refused in one line', { timeout: TIMEOUT_MS }, () => {
    const node = join(nodeFolder('18.20.8'), 'node')
    const { status, stderr } = spawnSync(node, [join(ROOT, 'scripts/after-install.js'), 'none'], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, 'Hedgerow needs Node 20 or newer with npm; this is Node 18.20.8.\n'])
  })
})
