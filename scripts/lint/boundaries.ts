import { dirname, posix, relative, resolve, sep } from 'node:path'
import { findBreach } from './import-rules.ts'
import { shapeRules } from './shape-rules.ts'

/**
 * The oxlint plugin for the import rules of docs/architecture.md, for roles and owners, and for the
 * shape of the code. It turns every import into
 * a pair of repository paths or package names and calls `findBreach`; test/gates shows that each rule works.
 */
const root = resolve(import.meta.dirname, '../..')

type Source = { type: string; value: unknown }
type ImportNode = { type: string; source?: Source | null }
type RuleContext = { filename: string; report(finding: { node: unknown; message: string }): void }

function check(context: RuleContext, node: ImportNode): void {
  const specifier = node.source?.value
  if (typeof specifier !== 'string') return
  const importer = relative(root, context.filename).split(sep).join(posix.sep)
  const target = specifier.startsWith('.') ? posix.join(dirname(importer), specifier) : specifier
  const message = findBreach({ importer, target, reexport: node.type.startsWith('Export') })
  if (message) context.report({ node, message })
}

/** Only the hub's access/ says what roles and owners mean; database/ stores them. */
const KNOWS_OWNERS = /^apps\/hub\/src\/(access\/|database\/(tables\.ts|migrations\/))/
const ROLE_OR_OWNER = /\b(hasRole|owner_id)\b/

type Word = { name?: unknown; value?: unknown }

function checkWord(context: RuleContext, node: Word): void {
  const file = relative(root, context.filename).split(sep).join(posix.sep)
  if (!file.startsWith('apps/hub/src/') || KNOWS_OWNERS.test(file)) return
  const text = node.name ?? (node.value as { raw?: unknown } | null)?.raw ?? node.value
  if (typeof text === 'string' && ROLE_OR_OWNER.test(text))
    context.report({ node, message: 'only access/ knows roles and owners: use the Scope' })
}

export default {
  meta: { name: 'hedgerow' },
  rules: {
    ...shapeRules,
    'import-boundaries': {
      create(context: RuleContext) {
        const visit = (node: ImportNode) => check(context, node)
        return {
          ImportDeclaration: visit,
          ImportExpression: visit,
          ExportAllDeclaration: visit,
          ExportNamedDeclaration: visit,
        }
      },
    },
    'roles-and-owners': {
      create(context: RuleContext) {
        const visit = (node: Word) => checkWord(context, node)
        return { Identifier: visit, Literal: visit, TemplateElement: visit }
      },
    },
  },
}
