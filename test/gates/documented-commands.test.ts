import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { HELP as GATEWAY_HELP } from '../../apps/gateway/src/read-config.ts'
import { HELP as HUB_HELP } from '../../apps/hub/src/cli/cli.ts'
import { variables } from '../../apps/hub/src/read-config.ts'

/** Commands, options and variables that documents name exist: in code blocks, and in backticks. */
const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pages = globSync(['*.md', 'docs/*.md', 'docs/operations/*.md'], { cwd: ROOT }).filter(
  (page) => page !== 'CHANGELOG.md',
)

/** The code of a page, line by line, continued lines as one; each text in backticks counts as a line. */
function codeOf(page: string): string[] {
  const text = read(page).replaceAll(/( \||\\)\n +/g, '$1 ')
  const indented = [...text.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line!.replace(/ {2,}#.*$/, ''))
  const fenced = [...text.matchAll(/^```\w*\n([^]*?)^```/gm)].flatMap(([, block]) => block!.split('\n'))
  const quoted = [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, code]) =>
    code!.replaceAll('\n', ' '),
  )
  return [...indented, ...fenced, ...quoted]
}
const code = pages.flatMap((page) => codeOf(page).map((line) => ({ page, line })))

/** The matches in all code that are not known, with their page. */
const unknown = (pattern: RegExp, known: (word: string) => boolean): string[] =>
  code.flatMap(({ page, line }) =>
    [...line.matchAll(pattern)].filter(([, word]) => !known(word!)).map(([match]) => `${page}: ${match}`),
  )
/** Words at the beginning of lines of a help text. */
const firstWords = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, word]) => word!))

describe('documents name only', () => {
  it('npm scripts that exist', () => {
    expect(unknown(/\bnpm run ([\w:-]+)/g, (name) => name in manifest.scripts)).toEqual([])
  })

  it('commands of the hub', () => {
    const commands = firstWords(HUB_HELP, /^ {2}([a-z][a-z-]+) /gm)
    expect(commands.size).toBeGreaterThan(6)
    // The command of the Debian package adds two.
    for (const [, words] of read('deploy/debian/hedgerow-hub/command').matchAll(/in ([a-z |]+)\) exec/g))
      for (const word of words!.split(' | ')) commands.add(word)
    expect(commands).toContain('back')
    const call = /(?:npm run hub -- |(?<![\w./-])hedgerow-hub |^hedgerow )(-?-?[a-z][a-z-]*)/g
    expect(unknown(call, (word) => (word.startsWith('-') ? HUB_HELP.includes(word) : commands.has(word)))).toEqual([])
  })

  it('commands and options of the gateway', () => {
    const commands = firstWords(GATEWAY_HELP, /npm run gateway -- ([a-z]+)/g)
    expect(commands.size).toBeGreaterThan(6)
    const call = /(?:npm run gateway -- |(?<![\w./-])hedgerow-gateway )(-?-?[a-z][a-z-]*)/g
    expect(unknown(call, (word) => (word.startsWith('-') ? GATEWAY_HELP.includes(word) : commands.has(word)))).toEqual(
      [],
    )
    const lines = code.filter(({ line }) => /npm run gateway -- |^hedgerow-gateway /.test(line))
    const options = lines.flatMap(({ page, line }) =>
      [...line.replace(/npm run gateway -- /, '').matchAll(/ (--[a-z-]+)/g)].map(([, option]) => ({ page, option })),
    )
    expect(options.filter(({ option }) => !GATEWAY_HELP.includes(option!))).toEqual([])
  })

  it('commands of release.sh, and options of install.sh', () => {
    const commands = firstWords(read('scripts/release.sh'), /^\s+release\.sh ([a-z]+)|^ {2}([a-z]+)\)$/gm)
    const inCase = firstWords(read('scripts/release.sh'), /^ {2}([a-z]+)\)$/gm)
    expect(unknown(/release\.sh ([a-z]+)/g, (word) => commands.has(word) || inCase.has(word))).toEqual([])
    const options = read('apps/hub/src/downloads/install.sh')
    const lines = code.filter(({ line }) => /install\.sh.* --[a-z]/.test(line))
    const named = lines.flatMap(({ line }) => [...line.replace(/^.*install\.sh/, '').matchAll(/ (--[a-z-]+)/g)])
    expect(named.length).toBeGreaterThan(2)
    expect(named.map(([, option]) => option!).filter((option) => !options.includes(option))).toEqual([])
  })

  it('variables that a program reads', () => {
    const sources = ['scripts/release.sh', 'apps/gateway/src/update/launch.sh', 'deploy/debian/hedgerow-hub/update']
    const scripts = sources.map(read).join('')
    const names = (word: string) => {
      const name = word.replace(/_FILE$/, '')
      return [word, name].some(
        (one) => one in variables.shape || GATEWAY_HELP.includes(one) || scripts.includes(one) || one.endsWith('_'),
      )
    }
    expect(unknown(/(?<![\w$-])((?:HUB|GATEWAY|HEDGEROW)_[A-Z_]+)/g, names)).toEqual([])
  })
})
