import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * `npm run check`: sibling folders import each other in one direction only, types included. The linter sees cycles of
 * files; two folders can form one without any file in it twice.
 */
const SPECIFIER = /(?:from|import) ?\(?'(\.{1,2}\/[^']+)'/g

type Edges = Map<string, Map<string, string>>

/** For each pair of sibling folders: one import that leads from the first to the second. */
function siblingImports(files: readonly { path: string; text: string }[]): Map<string, Edges> {
  const byParent = new Map<string, Edges>()
  for (const { path, text } of files)
    for (const [, specifier = ''] of text.matchAll(SPECIFIER)) {
      const from = dirname(path).split('/')
      const to = dirname(join(dirname(path), specifier)).split('/')
      const depth = from.findIndex((part, index) => part !== to[index])
      const [mine, theirs] = [from[depth], to[depth]]
      if (depth < 0 || mine === undefined || theirs === undefined) continue
      const parent = from.slice(0, depth).join('/')
      const edges = byParent.get(parent) ?? new Map<string, Map<string, string>>()
      byParent.set(parent, edges)
      const targets = edges.get(mine) ?? new Map<string, string>()
      edges.set(mine, targets)
      if (!targets.has(theirs)) targets.set(theirs, `${path} imports ${specifier}`)
    }
  return byParent
}

/** The cycles among sibling folders, each once, with an import for every step. */
export function folderCycles(files: readonly { path: string; text: string }[]): string[] {
  const findings: string[] = []
  for (const [parent, edges] of siblingImports(files)) {
    const done = new Set<string>()
    const visit = (folder: string, trail: string[]): void => {
      const at = trail.indexOf(folder)
      if (at >= 0) {
        const steps = [...trail.slice(at), folder]
        const reasons = steps.slice(1).map((next, index) => edges.get(steps[index]!)!.get(next)!)
        findings.push(`${parent}: ${steps.join(' -> ')}\n  ${reasons.join('\n  ')}`)
        return
      }
      if (done.has(folder)) return
      for (const next of edges.get(folder)?.keys() ?? []) visit(next, [...trail, folder])
      done.add(folder)
    }
    for (const folder of edges.keys()) visit(folder, [])
  }
  return findings
}

if (import.meta.main) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  const sources = listed
    .split('\n')
    .filter((path) => /^(?:apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .filter((path) => existsSync(path))
  const findings = folderCycles(sources.map((path) => ({ path, text: readFileSync(path, 'utf8') })))
  for (const finding of findings) console.log(finding)
  console.log(findings.length === 0 ? 'Folders import each other one way.' : `${findings.length} cycles of folders`)
  process.exitCode = findings.length === 0 ? 0 : 1
}
