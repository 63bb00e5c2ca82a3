import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * `npm run check`: files, and the folders and files of one folder, import each other in one direction only. Types and
 * `import()` count: the linter sees neither cycles through `import()` nor those of folders.
 */
const SPECIFIER = /(?:from|import) ?\(?'((?:\.{1,2}|#\w+)\/[^']+)'/g

type File = { path: string; text: string }
type Import = { to: string; sentence: string }
type Edges = Map<string, Map<string, string>>

function importsOf({ path, text }: File): Import[] {
  return [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => ({
    to: join(...(specifier.startsWith('#') ? [sourceFolder(path), specifier.slice(1)] : [dirname(path), specifier])),
    sentence: `${path} imports ${specifier}`,
  }))
}

/** Where `#api/*` and `#parts/*` begin. */
function sourceFolder(path: string): string {
  return path.split('/').slice(0, 3).join('/')
}

/** For each pair in one folder, files or folders: one import that leads from the first to the second. */
function siblingImports(files: readonly File[]): Map<string, Edges> {
  const byParent = new Map<string, Edges>()
  for (const file of files)
    for (const { to, sentence } of importsOf(file)) {
      const [from, target] = [file.path.split('/'), to.split('/')]
      const depth = from.findIndex((part, index) => part !== target[index])
      const [mine, theirs] = [from[depth], target[depth]]
      if (mine === undefined || theirs === undefined) continue
      const parent = from.slice(0, depth).join('/')
      const edges = byParent.get(parent) ?? new Map<string, Map<string, string>>()
      byParent.set(parent, edges)
      const targets = edges.get(mine) ?? new Map<string, string>()
      edges.set(mine, targets)
      if (!targets.has(theirs)) targets.set(theirs, sentence)
    }
  return byParent
}

/** For each file: the files that it imports. */
function fileImports(files: readonly File[]): Edges {
  return new Map(files.map((file) => [file.path, new Map(importsOf(file).map(({ to, sentence }) => [to, sentence]))]))
}

/** The cycles in `edges`, each once: its steps, which end with the first one again. */
function cyclesOf(edges: Edges): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const visit = (node: string, trail: string[]): void => {
    const at = trail.indexOf(node)
    if (at >= 0) {
      cycles.push([...trail.slice(at), node])
      return
    }
    if (done.has(node)) return
    for (const next of edges.get(node)?.keys() ?? []) visit(next, [...trail, node])
    done.add(node)
  }
  for (const node of edges.keys()) visit(node, [])
  return cycles
}

function inWords(cycle: string[], edges: Edges): string {
  const sentences = cycle.slice(1).map((next, index) => edges.get(cycle[index]!)!.get(next)!)
  return `${cycle.join(' -> ')}\n  ${sentences.join('\n  ')}`
}

/** The cycles of files, then those in which a folder takes part. */
export function importCycles(files: readonly File[]): string[] {
  const ofFiles = fileImports(files)
  const ofFolders = [...siblingImports(files)].flatMap(([parent, edges]) =>
    cyclesOf(edges)
      .filter((cycle) => cycle.some((step) => !/\.tsx?$/.test(step)))
      .map((cycle) => `${parent}: ${inWords(cycle, edges)}`),
  )
  return [...cyclesOf(ofFiles).map((cycle) => inWords(cycle, ofFiles)), ...ofFolders]
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
