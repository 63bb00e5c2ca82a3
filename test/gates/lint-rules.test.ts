import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exceptionFiles } from '../../scripts/lint/shape-rules.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

type Breach = { title: string; file: string; source: string; message: string }

/** One file for each rule that the linter must refuse, in the folder where the rule applies. */
const breaches: Breach[] = [
  {
    title: 'a role judged outside access/',
    file: 'apps/hub/src/fleet/breach-role.ts',
    source: `import * as contract from '@hedgerow/contract'\nexport const may = contract.hasRole('user', 'admin')`,
    message: 'only access/ knows roles and owners: use the Scope',
  },
  {
    title: 'the column of owners in a query outside access/',
    file: 'apps/hub/src/detections/breach-owner.ts',
    source: `export const column = 'gateways.owner_id'`,
    message: 'only access/ knows roles and owners: use the Scope',
  },
  {
    title: 'an app that imports another app',
    file: 'apps/hub/src/fleet/breach-app.ts',
    source: `import '../../../gateway/src/gateway.ts'`,
    message: 'apps never import each other: hub imports gateway',
  },
  {
    title: 'a way around the entrance of the reader of plain requests',
    file: 'packages/http/src/breach-plain.ts',
    source: `import './plain/head.ts'`,
    message: 'the reader of plain requests has one entrance, plain/connection.ts',
  },
  {
    title: 'the design system importing a protocol package',
    file: 'packages/ui/src/breach-package.ts',
    source: `import '@hedgerow/wireguard'`,
    message: 'ui may not import wireguard',
  },
  {
    title: 'a path into a package instead of its name',
    file: 'apps/hub/src/tunnel/breach-path.ts',
    source: `import '../../../../packages/wireguard/src/peer.ts'`,
    message: 'import @hedgerow/wireguard by its name, not by a path into it',
  },
  {
    title: 'a protocol package importing the other one, be it a type',
    file: 'packages/netstack/src/breach-protocol.ts',
    source: `import type { Device } from '@hedgerow/wireguard'\nexport type Copy = Device`,
    message: 'netstack may not import wireguard',
  },
  {
    title: 'node:* in the core of a protocol package',
    file: 'packages/wireguard/src/breach-node.ts',
    source: `import 'node:dgram'`,
    message: 'the core of a pure package imports no node:*; only its node/ folder does',
  },
  {
    title: 'the core of a protocol package importing its edge',
    file: 'packages/wireguard/src/breach-edge.ts',
    source: `import './node/index.ts'`,
    message: 'the core of a protocol package does not import its node/ folder',
  },
  {
    title: 'a clock read in the core of a protocol package',
    file: 'packages/netstack/src/breach-clock.ts',
    source: `export const now = Date.now()`,
    message: "Unexpected use of 'Date'.",
  },
  {
    title: 'randomness made in the core of a protocol package',
    file: 'packages/wireguard/src/breach-random.ts',
    source: `export const dice = Math.random()`,
    message: "'Math.random' is restricted from being used.",
  },
  {
    title: 'a dependency of a protocol package other than noble',
    file: 'packages/wireguard/src/breach-dependency.ts',
    source: `import 'pino'`,
    message: 'a protocol package depends on noble alone, not on pino',
  },
  {
    title: 'a dependency of vision',
    file: 'packages/vision/src/breach-dependency.ts',
    source: `import 'sharp'`,
    message: 'vision depends on nothing, not on sharp',
  },
  {
    title: 'node:* in vision',
    file: 'packages/vision/src/breach-node.ts',
    source: `import 'node:fs'`,
    message: 'the core of a pure package imports no node:*; only its node/ folder does',
  },
  {
    title: 'a clock read in vision',
    file: 'packages/vision/src/breach-clock.ts',
    source: `export const now = performance.now()`,
    message: "Unexpected use of 'performance'.",
  },
  {
    title: 'a dependency of contract other than zod',
    file: 'packages/contract/src/breach-zod.ts',
    source: `import 'fastify'`,
    message: 'contract imports zod only, not fastify',
  },
  {
    title: 'node:* in the portal',
    file: 'packages/ui/src/breach-node.ts',
    source: `import 'node:fs'`,
    message: 'the portal, the site, gateway-ui and ui run in a browser: no node:* there',
  },
  {
    title: 'a feature importing another feature',
    file: 'apps/portal/src/features/gateways/breach-feature.ts',
    source: `import '../approvals/queries.ts'`,
    message: 'feature gateways may not import feature approvals',
  },
  {
    title: 'a feature reaching for api/ by a relative path',
    file: 'apps/portal/src/features/gateways/breach-relative.ts',
    source: `import '../../api/drafts.ts'`,
    message: 'a feature imports ./, #api/*, #parts/* and packages',
  },
  {
    title: 'the calls of the portal importing a feature',
    file: 'apps/portal/src/api/breach-below.ts',
    source: `import '../features/gateways/page.tsx'`,
    message: 'api/ may not import a feature',
  },
  {
    title: 'a shared part of the portal importing a feature',
    file: 'apps/portal/src/parts/breach-part.ts',
    source: `import '../features/gateways/messages.ts'`,
    message: 'parts/ may not import a feature',
  },
  {
    title: 'the calls of the portal importing a shared part',
    file: 'apps/portal/src/api/breach-part.ts',
    source: `import '#parts/one-by-one.ts'`,
    message: 'api/ has no components: it may not import parts/',
  },
  {
    title: 'the design system importing the contract',
    file: 'packages/ui/src/breach-domain.ts',
    source: `import '@hedgerow/contract'`,
    message: 'ui may not import contract',
  },
  {
    title: 'the public site importing the portal kit',
    file: 'apps/public/src/breach-site.ts',
    source: `import '@mantine/core'`,
    message: 'the public site does not load the portal kit',
  },
  {
    title: "a hub module importing another module's inner file",
    file: 'apps/hub/src/fleet/breach-inner.ts',
    source: `import '../enrolment/handshake.ts'`,
    message: 'fleet may import enrolment/enrolment.ts, not enrolment/handshake.ts',
  },
  {
    title: 'common ground of the hub importing a module above it',
    file: 'apps/hub/src/access/breach-ground.ts',
    source: `import '../fleet/fleet.ts'`,
    message: 'access/ is below the other modules of the hub: it may not import fleet/',
  },
  {
    title: 'a hub module importing the composition root',
    file: 'apps/hub/src/fleet/breach-root.ts',
    source: `import '../hub.ts'`,
    message: 'only program.ts builds the hub; a module gets what it needs as an argument',
  },
  {
    title: 'a file of a hub module importing what opens another room',
    file: 'apps/hub/src/fleet/breach-room.ts',
    source: `import '../tunnel/module.ts'`,
    message: 'only hub.ts opens a room; only the module.ts of another room names what it gives',
  },
  {
    title: 'a timer of the hub that repeats outside of its tasks',
    file: 'apps/hub/src/fleet/breach-timer.ts',
    source: `export const timer = setInterval(() => {}, 1_000)`,
    message: "Unexpected use of 'setInterval'. what repeats is a task of createTasks",
  },
  {
    title: "a barrel that is not a package's index.ts",
    file: 'packages/ui/src/breach-barrel.ts',
    source: `export { panel } from './panel.tsx'`,
    message: "no barrels but a package's index.ts: import packages/ui/src/panel.tsx where it is used",
  },
  {
    title: 'product code importing a test',
    file: 'apps/hub/src/fleet/breach-test.ts',
    source: `import '../../../../test/harness/hub.ts'`,
    message: 'product code does not import tests, benches or scripts',
  },
  {
    title: "product code importing a tests' helper",
    file: 'apps/hub/src/fleet/breach-testing.ts',
    source: `import '#testing/hub.ts'`,
    message: 'product code does not import tests, benches or scripts',
  },
  {
    title: 'a cycle between hub modules',
    file: 'apps/hub/src/fleet/fleet.ts',
    source: `import { tunnel } from '../tunnel/tunnel.ts'\nexport const fleet = () => tunnel`,
    message: 'Dependency cycle detected',
  },
  {
    title: 'a function of more than 120 lines of its own',
    file: 'apps/hub/src/fleet/breach-long.ts',
    source: `export function long() {\n${'  void 0\n'.repeat(119)}}`,
    message: 'a function of 121 lines: at most 120',
  },
  {
    title: 'a type with the name of a verb',
    file: 'apps/gateway/src/breach-name.ts',
    source: `export type Told = { at: number }`,
    message: 'a type is a noun of the field, not Told',
  },
  {
    title: 'a function with nine options',
    file: 'apps/hub/src/fleet/breach-options.ts',
    source: `export const sum = ({ a, b, c, d, e, f, g, h, i }: Record<string, number>) => [a, b, c, d, e, f, g, h, i]`,
    message: '9 options: at most 8',
  },
  {
    title: 'a type that is a puzzle',
    file: 'apps/hub/src/fleet/breach-puzzle.ts',
    source: `type A = { a: 1; b: 2 }\nexport type B = Pick<A, 'a'> & Partial<Omit<A, 'a'>>`,
    message: 'write the type down instead of Pick<…> & Partial<Omit<…>>',
  },
  {
    title: 'the path of a call outside call()',
    file: 'apps/gateway/src/hub/breach-path.ts',
    source: 'export const path = (id: string) => `/api/v1/gateway/${id}`',
    message: 'the path of a call stands in call() alone',
  },
  {
    title: 'the URL of a call in a test of the hub',
    file: 'apps/hub/src/fleet/breach-inject.test.ts',
    source: `export const ask = (app: { inject(url: object): unknown }) => app.inject({ url: '/api/v1/hub/gateways' })`,
    message: 'use createTestApi instead of the URL of a call',
  },
  {
    title: 'a sentence of another language beside logic',
    file: 'apps/hub/src/alerts/breach-language.ts',
    source: `export const text = 'Bitte bestätigen'`,
    message: 'another language stands in files of words',
  },
]

const closure = `  const f = () => {\n${'    void 0\n'.repeat(80)}  }\n  f()\n`
const closures = `export function open() {\n${closure}${closure.replaceAll('f', 'g')}}`

/** Allowed imports, so that a rule that refuses everything fails too. */
const allowed: Record<string, string> = {
  'apps/hub/src/tunnel/tunnel.ts': `import { fleet } from '../fleet/fleet.ts'\nexport const tunnel = () => fleet`,
  'apps/hub/testing/allowed.ts': `import '../src/app.ts'\nimport '../src/registrations/handshake.ts'`,
  'apps/hub/src/fleet/allowed.test.ts': `import '#testing/hub.ts'`,
  'apps/hub/src/fleet/module.ts': `import '../enrolment/handshake.ts'\nimport '../tunnel/module.ts'`,
  'apps/hub/src/database/allowed.ts': `import '../config.ts'\nimport '../kernel/clock.ts'`,
  'apps/hub/src/dashboard/allowed.ts': `import '../tunnel/tunnel.ts'`,
  'packages/wireguard/src/node/allowed.ts': `import 'node:dgram'`,
  'packages/wireguard/src/allowed.ts': `import '@noble/hashes/blake2.js'`,
  'apps/portal/src/features/gateways/allowed.ts': `import '@hedgerow/ui/panel.tsx'
    import '@hedgerow/contract'\nimport './queries.ts'`,
  'apps/gateway/src/allowed.ts': `import '@hedgerow/netstack/node'`,
  'packages/netstack/src/index.ts': `export * from './stack.ts'`,
  'apps/hub/src/fleet/closures.ts': closures,
  'apps/hub/src/alerts/some-words.ts': `export const text = 'Bitte bestätigen'`,
  'apps/hub/src/kernel/timer.ts': `setInterval(() => undefined, 1_000)`,
}

it('a file that may break a rule exists', () => {
  expect(exceptionFiles.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

describe('the rules of the linter', () => {
  let folder: string
  const messages = new Map<string, string[]>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hedgerow-gates-'))
    cpSync(join(root, 'scripts/lint'), join(folder, 'scripts/lint'), { recursive: true })
    cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const files = [...breaches.map(({ file, source }) => [file, source] as const), ...Object.entries(allowed)]
    for (const [file, source] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), `${source}\n`)
    }
    const lint = await run(process.execPath, [join(root, 'node_modules/oxlint/bin/oxlint'), '--format', 'json'], {
      cwd: folder,
    }).catch((failure: { stdout: string }) => failure)
    const report = JSON.parse(lint.stdout) as { diagnostics: { filename: string; message: string }[] }
    for (const { filename, message } of report.diagnostics)
      messages.set(filename, [...(messages.get(filename) ?? []), message])
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(breaches)('refuse $title', ({ file, message }) => {
    expect(messages.get(file) ?? []).toContainEqual(message)
  })

  it.each(Object.keys(allowed).filter((file) => file !== 'apps/hub/src/tunnel/tunnel.ts'))('accept %s', (file) => {
    expect(messages.get(file) ?? []).toEqual([])
  })
})
