import type { Reporter, TestModule } from 'vitest/node'

/** Closes a run with one line that any tool can read: `N passed, N failed, N skipped`. */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const before = counts.failed
      for (const test of module.children.allTests()) counts[test.result().state]++
      if (module.state() === 'failed' && counts.failed === before) counts.failed++
    }
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  }
}
