import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor, type Statement } from 'oxc-parser'
import { expect, it } from 'vitest'

const HUB = 'apps/hub/src/'
const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/memory.md'), 'utf8')
const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', `${HUB}**/*.ts`], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => !/\.test\.ts$|\/cli\/|\/migrations\//.test(file))
  .flatMap((file) => {
    try {
      return [{ file: file.slice(HUB.length), text: readFileSync(join(root, file), 'utf8') }]
    } catch {
      return []
    }
  })

/** Functions whose variables outlive the call, and what they keep things in. */
const OPENS = /^(create|open|keep)/
const COLLECTIONS = /^(Map|Set|WeakMap|WeakSet)$/
const KEEPERS = /^(cachedRead|createBuckets)$/

/** Whether the file keeps something between two calls: in itself, or in what one of its functions opens. */
function keepsState(text: string): boolean {
  const { program } = parseSync('file.ts', text)
  let found = false
  const look = (body: readonly Statement[]) => {
    for (const statement of body) {
      const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      if (node?.type === 'FunctionDeclaration' && OPENS.test(node.id?.name ?? '')) look(node.body?.body ?? [])
      if (node?.type !== 'VariableDeclaration') continue
      for (const { init } of node.declarations) {
        const isEmptyCollection =
          init?.type === 'NewExpression' &&
          init.callee.type === 'Identifier' &&
          COLLECTIONS.test(init.callee.name) &&
          init.arguments.length === 0
        if (isEmptyCollection || node.kind === 'let') found = true
      }
    }
  }
  look(program.body)
  new Visitor({
    CallExpression({ callee }) {
      if (callee.type === 'Identifier' && KEEPERS.test(callee.name)) found = true
    },
  }).visit(program)
  return found
}

/** `name | where` of each task that the file runs. */
function tasksIn({ file, text }: { file: string; text: string }): string[] {
  const tasks: string[] = []
  new Visitor({
    CallExpression({ callee, arguments: [options] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'createTasks') return
      const value = (name: string) => {
        const properties = options?.type === 'ObjectExpression' ? options.properties : []
        const property = properties.find((one) => one.type === 'Property' && 'name' in one.key && one.key.name === name)
        return property?.type === 'Property' && property.value.type === 'Literal' ? property.value.value : undefined
      }
      tasks.push(`${value('name')} | ${value('on')} | ${file}`)
    },
  }).visit(parseSync('file.ts', text).program)
  return tasks
}

function section(title: string): string {
  return page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
}

it('docs/memory.md names every background task of the hub, and where it runs', () => {
  const rows = [...section('Background tasks').matchAll(/^\| `([^`]+)` \| (each hub|one hub) \|.*\| `([^`]+)` \|$/gm)]
  expect(rows.map(([, name, on, file]) => `${name} | ${on} | ${file}`).toSorted()).toEqual(
    sources.flatMap(tasksIn).toSorted(),
  )
})

it('docs/memory.md names every file of the hub that keeps something in memory', () => {
  const rows = section('What is kept').matchAll(/^\|.*\| (`[^|]+) \|$/gm)
  const files = [...rows].flatMap(([, names]) => [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))
  expect(files.toSorted()).toEqual(
    sources
      .filter(({ text }) => keepsState(text))
      .map(({ file }) => file)
      .toSorted(),
  )
})

it('and the test sees what keeps state', () => {
  expect(keepsState(`export function createCount() {\n  const byName = new Map<string, number>()\n}`)).toBe(true)
  expect(keepsState(`let count = 0`)).toBe(true)
  expect(keepsState(`export const keepSites = (db: Db) => cachedRead(db, { name: 'sites', kinds: [] }, read)`)).toBe(
    true,
  )
  expect(keepsState(`function count() {\n  const byName = new Map<string, number>()\n  let sum = 0\n}`)).toBe(false)
  expect(tasksIn({ file: 'a.ts', text: `createTasks({ log, name: 'a', on: 'one hub', failure: '' })` })).toEqual([
    'a | one hub | a.ts',
  ])
})
