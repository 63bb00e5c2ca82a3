import { defineConfig } from 'vitest/config'

const unit = (name: string, root: string, timeoutMs = 20_000) => ({
  test: { name, root, include: ['**/*.test.{ts,tsx}'], environment: 'node', testTimeout: timeoutMs, hookTimeout: 60_000 },
})

/** Each package and app is a project; the folders of `test/` are projects of their own because they start real processes. */
export default defineConfig({
  test: {
    projects: [
      unit('contract', 'packages/contract'),
      unit('enrolment', 'packages/enrolment'),
      unit('wireguard', 'packages/wireguard'),
      unit('netstack', 'packages/netstack'),
      unit('hub', 'apps/hub', 60_000),
      unit('gateway', 'apps/gateway'),
      unit('web', 'apps/web'),
      unit('gates', 'test/gates', 60_000),
      unit('system', 'test/system', 120_000),
      unit('interop', 'test/interop', 120_000),
      unit('e2e', 'test/e2e', 180_000),
    ],
  },
})
