import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * `npm run check`: files, and sibling folders, import each other in one direction only. Types and `import()` count: the
 * linter sees neither cycles through `import()` nor those of folders.
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

/** For each file: the files that it imports, each with the specifier. */
function fileImports(files: readonly { path: string; text: string }[]): Edges {
  return new Map(
    files.map(({ path, text }) => {
      const specifiers = [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => specifier)
      return [path, new Map(specifiers.map((to) => [join(dirname(path), to), `${path} imports ${to}`]))]
    }),
  )
}

/** The cycles in `edges`, each once, with an import for every step. */
function cyclesOf(edges: Edges): string[] {
  const findings: string[] = []
  const done = new Set<string>()
  const visit = (node: string, trail: string[]): void => {
    const at = trail.indexOf(node)
    if (at >= 0) {
      const steps = [...trail.slice(at), node]
      const reasons = steps.slice(1).map((next, index) => edges.get(steps[index]!)!.get(next)!)
      findings.push(`${steps.join(' -> ')}\n  ${reasons.join('\n  ')}`)
      return
    }
    if (done.has(node)) return
    for (const next of edges.get(node)?.keys() ?? []) visit(next, [...trail, node])
    done.add(node)
  }
  for (const node of edges.keys()) visit(node, [])
  return findings
}

/** The cycles of files, then those of sibling folders. */
export function importCycles(files: readonly { path: string; text: string }[]): string[] {
  const ofFolders = [...siblingImports(files)].flatMap(([parent, edges]) =>
    cyclesOf(edges).map((cycle) => `${parent}: ${cycle}`),
  )
  return [...cyclesOf(fileImports(files)), ...ofFolders]
}

if (import.meta.main) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  const sources = listed
    .split('\n')
    .filter((path) => /^(?:apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .filter((path) => existsSync(path))
  const findings = importCycles(sources.map((path) => ({ path, text: readFileSync(path, 'utf8') })))
  for (const finding of findings) console.log(finding)
  console.log(
    findings.length === 0 ? 'Files and folders import each other one way.' : `${findings.length} cycles of imports`,
  )
  process.exitCode = findings.length === 0 ? 0 : 1
}
