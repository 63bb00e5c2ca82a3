import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findLooseEnds, pages } from '../apps/portal/scripts/help-pages.ts'
import { findLongLines } from './line-width.ts'

/**
 * Checks the documents against the tree: every relative link and every path in backticks exists, every dependency of a
 * package.json has its line in docs/dependencies.md, lines end at column 120, and the portal can show the
 * pages of help, whose links have targets.
 */
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
const files = tracked.split('\n').filter((file) => existsSync(file))
const findings: string[] = []

const link = /\]\(([^()#\s]+)(?:#[^()]*)?\)/g
const quotedPath = /`((?:apps|packages|docs|test|bench|scripts)\/[\w./-]*[\w/])`/g

for (const file of files.filter((name) => name.endsWith('.md'))) {
  const text = readFileSync(file, 'utf8')
  for (const [, target] of text.matchAll(link)) {
    if (!target || /^[a-z]+:/.test(target)) continue
    if (!existsSync(join(dirname(file), target))) findings.push(`${file}: the link ${target} has no target`)
  }
  for (const [, path] of text.matchAll(quotedPath))
    // A fresh checkout has no build output.
    if (path && !path.endsWith('/dist') && !existsSync(path)) findings.push(`${file}: there is no ${path}`)
}

for (const file of files) {
  const text = readFileSync(file, 'utf8')
  // A picture or a video.
  if (text.includes('\0')) continue
  for (const line of findLongLines(file, text)) findings.push(`${file}:${line}: the line goes beyond column 120`)
}

const listed = readFileSync('docs/dependencies.md', 'utf8')
for (const file of files.filter((name) => name.endsWith('package.json'))) {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<
    'dependencies' | 'devDependencies' | 'optionalDependencies',
    object | undefined
  >
  const { dependencies, devDependencies, optionalDependencies } = manifest
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    if (!name.startsWith('@hedgerow/') && !listed.includes(`\`${name}\``))
      findings.push(`docs/dependencies.md: ${name} of ${file} is not in the list`)
}

findings.push(...findLooseEnds(pages))

for (const finding of findings) console.log(finding)
console.log(findings.length === 0 ? 'Documents agree with the tree.' : `${findings.length} findings in the documents`)
process.exitCode = findings.length === 0 ? 0 : 1
