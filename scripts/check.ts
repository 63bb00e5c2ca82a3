import { spawnSync } from 'node:child_process'

/**
 * `npm run check`: every gate that reads the source, one after the other; all of them run, and any failure fails it.
 */
const gates: [title: string, command: string, ...args: string[]][] = [
  ['format', 'oxfmt', '--check'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives-severity=error'],
  ['types', 'tsc', '--noEmit', '-p', '.'],
  ['unused code', 'knip', '--no-progress'],
  ['API description', 'node', 'scripts/lint-api-description.ts'],
  ['public files', 'node', 'scripts/public-files.ts'],
  ['documents', 'node', 'scripts/check-docs.ts'],
  ['imports', 'node', 'scripts/import-cycles.ts'],
]

const failed: string[] = []
for (const [title, command, ...args] of gates) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) failed.push(title)
}
console.log(failed.length === 0 ? 'check: all gates passed' : `check: failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
