import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'
import { memoryFolder } from './scripts/memory-folder.ts'

const folder = memoryFolder()
if (folder) process.env['TMPDIR'] = folder
// The cache serves hundreds of processes, of tests and of the programs that they start, with the same sources.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.compile-cache')

/**
 * More workers than cores: tests wait for other processes and for timers. Each worker imports the code under test and
 * compiles it again: two workers more take a twentieth more processor time, and keep cores busy that idled for a fifth.
 */
const maxWorkers = availableParallelism() + 4
/**
 * Workers of tests that start a browser or whole processes. Half of these files keep a core busy, the others wait for
 * timers of what they started.
 */
const maxHeavyWorkers = availableParallelism() + 3

/** Watch mode needs what Vitest's own imports tell it. */
const isWatching = !process.argv.includes('run')
const harness = (file: string) => join(import.meta.dirname, 'test/harness', file)

/** A machine that does much else takes ten times as long; a test that hangs fails all the same. */
const project = (name: string, root: string, testTimeout = 240_000) => ({
  name,
  root,
  include: ['**/*.test.{ts,tsx}'],
  environment: 'node' as const,
  maxWorkers,
  // A larger young generation is collected less often, and most workers end before 256 MB of old objects are worth a
  // look. Workers keep all cores busy, so none is free to help collect. Code of a test runs too briefly to earn what
  // V8's last compiler takes: a twelfth of all processor time.
  execArgv: [
    '--max-semi-space-size=32',
    '--min-semi-space-size=16',
    '--initial-old-space-size=256',
    '--single-threaded-gc',
    '--max-opt=2',
  ],
  // Node itself imports tests and sources, as it does in a hub and an agent: from one compile cache, without a server
  // that transforms them.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: isWatching ? [] : [harness('plain-imports.js')],
  testTimeout,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
})

/**
 * Modules keep nothing between tests, so files share a process: imports cost more than most tests. A process serves one
 * project, so what needs no set-up of its own is one project, `units`.
 */
const shared = { isolate: false }

/**
 * These start real processes and look at real clocks, so they run after the others. Browsers are among them, so none of
 * them makes network interfaces: Chromium drops the requests that wait for a connection whenever an address or a link
 * of the machine comes or goes (`net::ERR_NETWORK_CHANGED`).
 */
const heavy = (name: string, root: string, globalSetup: string[] = []) => ({
  ...project(name, root, 480_000),
  maxWorkers: maxHeavyWorkers,
  // A question to a page or to another process costs more than one to the own.
  expect: { poll: { timeout: 60_000, interval: 50 } },
  sequence: { groupOrder: 1 },
  env: { TEST_BUNDLES: 'on', TEST_STARTED_HUBS: 'on', TEST_BROWSERS: 'beside' },
  globalSetup: ['bundle-programs.ts', ...globalSetup].map(harness),
})

/** These make network interfaces, so they run with the tests that start no browser. */
const beforeBrowsers = (name: string, root: string) => ({
  ...heavy(name, root),
  maxWorkers,
  sequence: { groupOrder: 0 },
  env: { TEST_BUNDLES: 'on', TEST_STARTED_HUBS: 'on' },
})

const e2e = heavy('e2e', 'test/e2e', ['portal-build.ts'])

export default defineConfig({
  test: {
    reporters: ['default', './scripts/plain-summary.ts'],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...project('units', '.'),
          ...shared,
          include: ['packages', 'apps/{gateway,gateway-ui,portal}', 'test/gates'].map(
            (at) => `${at}/**/*.test.{ts,tsx}`,
          ),
        },
      },
      {
        test: {
          ...project('hub', 'apps/hub'),
          ...shared,
          globalSetup: join(import.meta.dirname, 'apps/hub/testing/global-setup.ts'),
        },
      },
      { test: { ...heavy('system', 'test/system'), ...shared } },
      {
        test: {
          ...e2e,
          ...shared,
          env: { ...e2e.env, TEST_PAGES: 'brief' },
          setupFiles: [...e2e.setupFiles, harness('page-report.ts')],
        },
      },
      { test: { ...beforeBrowsers('interop', 'test/interop'), ...shared } },
    ],
  },
})
