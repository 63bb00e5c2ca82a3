import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const project = (name: string, root: string, testTimeout = 60_000) => ({
  name,
  root,
  include: ['**/*.test.{ts,tsx}'],
  environment: 'node',
  testTimeout,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
})

const unit = (name: string, root: string, testTimeout?: number) => ({ test: project(name, root, testTimeout) })

/** These start real processes and look at real clocks, so they run after the others, one project and one file at a time. */
const system = (name: string, groupOrder: number, testTimeout: number) => ({
  test: {
    ...project(name, `test/${name}`, testTimeout),
    fileParallelism: false,
    sequence: { groupOrder },
  },
})

export default defineConfig({
  test: {
    reporters: ['default', './scripts/plain-summary.ts'],
    projects: [
      unit('contract', 'packages/contract'),
      unit('enrolment', 'packages/enrolment'),
      unit('http', 'packages/http'),
      unit('wireguard', 'packages/wireguard'),
      unit('netstack', 'packages/netstack'),
      {
        test: {
          ...project('hub', 'apps/hub', 120_000),
          globalSetup: join(import.meta.dirname, 'apps/hub/testing/global-setup.ts'),
        },
      },
      unit('gateway', 'apps/gateway'),
      unit('ui', 'packages/ui'),
      unit('portal', 'apps/portal'),
      unit('gates', 'test/gates'),
      system('system', 1, 240_000),
      system('interop', 2, 240_000),
      system('e2e', 3, 240_000),
    ],
  },
})
