import type { UserConsoleLog } from 'vitest'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Ends a run with the reasons of skipped suites, the tests that passed only in a second try and why the first one
 * failed, and a last line that any tool can read: `N passed, N failed`.
 */
export default class PlainSummary implements Reporter {
  readonly #reasons = new Set<string>()

  /** Suites print `skipped: reason` when the machine lacks something; this repeats the lines at the end. */
  onUserConsoleLog(log: UserConsoleLog): void {
    for (const line of log.content.split('\n')) if (line.startsWith('skipped: ')) this.#reasons.add(line)
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const triedAgain: string[] = []
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const before = counts.failed
      for (const test of module.children.allTests()) {
        counts[test.result().state]++
        if (test.diagnostic()?.flaky) triedAgain.push(`tried again: ${nameOf(test)}${reasonOf(test)}`)
      }
      if (module.state() === 'failed' && counts.failed === before) counts.failed++
    }
    const skipped = counts.skipped > 0 ? [`skipped: ${counts.skipped} tests`] : []
    const lines = [...this.#reasons, ...skipped, ...triedAgain]
    process.stdout.write(`\n${[...lines, `${counts.passed} passed, ${counts.failed} failed`].join('\n')}\n`)
  }
}

const nameOf = ({ project, module, fullName }: TestCase) => `${project.name} ${module.relativeModuleId} > ${fullName}`

/** The first line of the error of the first try. */
function reasonOf(test: TestCase): string {
  const [line] = test.result().errors?.[0]?.message.split('\n') ?? []
  return line === undefined ? '' : `: ${line}`
}
