import { defineConfig } from 'vitest/config'

const project = (name: string, root: string, testTimeout = 20_000) => ({
  name,
  root,
  include: ['**/*.test.{ts,tsx}'],
  environment: 'node',
  testTimeout,
  hookTimeout: 60_000,
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
      unit('wireguard', 'packages/wireguard'),
      unit('netstack', 'packages/netstack', 60_000),
      unit('hub', 'apps/hub', 60_000),
      unit('gateway', 'apps/gateway'),
      unit('web', 'apps/web'),
      unit('gates', 'test/gates', 60_000),
      system('system', 1, 120_000),
      system('interop', 2, 120_000),
      system('e2e', 3, 180_000),
    ],
  },
})
