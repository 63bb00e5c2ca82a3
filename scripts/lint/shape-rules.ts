import { posix, relative, resolve, sep } from 'node:path'

/** Rules about the shape of the code, as docs/architecture.md lists them. test/gates breaks each of them once. */
const root = resolve(import.meta.dirname, '../..')
const FUNCTION_LINES_MAX = 120
const OPTIONS_MAX = 8

/** Tests of the hub from before this rule: they look at heads, broken bodies or refusals of raw requests. */
const RAW_REQUESTS = [
  'accounts/accounts',
  'accounts/first-admin',
  'audit/audit',
  'audit/coverage',
  'cameras/cameras',
  'certificates/certificates',
  'commands/commands',
  'commands/ledger',
  'dashboard/dashboard',
  'database/read-only-disk',
  'database/small-disk',
  'detections/detection-pictures',
  'detections/export',
  'detections/freed-room',
  'detections/quota',
  'detections/thumbnails',
  'enrolment/approval',
  'enrolment/enrolment',
  'enrolment/holds',
  'enrolment/restart',
  'enrolment/rules',
  'events/events',
  'fleet/fleet-list-cache',
  'fleet/fleet',
  'fleet/gateway-calls',
  'fleet/history',
  'http/api',
  'http/field-errors',
  'http/json-bodies',
  'http/long-answers',
  'http/web',
  'kernel/log',
  'metrics/metrics',
  'notifications/push',
  'settings/settings',
  'tunnel/tunnel',
  'updates/updates',
]

/** The files that may break a rule, with the reason. */
const EXCEPTIONS: Record<string, Record<string, string>> = {
  'long-functions': {
    'apps/hub/src/database/migrations/001-first.ts': 'a migration that was released never changes',
    'apps/gateway/src/gateway.ts': 'the list of the agent’s parts in their order',
    'apps/gateway/src/device.ts': 'the list of the device’s parts in their order',
    'apps/portal/src/features/threats/page.tsx': 'one screen; its parts have files of their own',
  },
  'few-options': {
    'apps/hub/src/metrics/metrics.ts': 'one line for each part that is measured',
    'apps/portal/src/features/threats/filter.ts': 'the fields of a filter, each with its place in a query',
  },
  'call-paths': { 'apps/gateway/src/deterrents/drivers/hydrawise.ts': 'a path of another maker’s device' },
  'inject-calls': Object.fromEntries(
    RAW_REQUESTS.map((name) => [`apps/hub/src/${name}.test.ts`, 'looks at raw requests']),
  ),
  'one-language': {
    'apps/gateway/src/kernel/person-label.ts': 'labels that models and programs use, no sentences',
    'apps/hub/src/alerts/seen.ts': 'the words of labels',
  },
}

type Node = {
  type: string
  name?: unknown
  value?: unknown
  id?: Node | null
  key?: Node
  callee?: Node & { property?: Node }
  params?: Node[]
  properties?: Node[]
  arguments?: Node[]
  quasis?: Node[]
  types?: Node[]
  typeName?: Node
  typeArguments?: { params: Node[] } | null
  loc: { start: { line: number }; end: { line: number } }
}
type RuleContext = { filename: string; report(finding: { node: unknown; message: string }): void }
type Visitors = Record<string, (node: Node) => void>

const isTest = (file: string) => /\.test\.tsx?$|\/testing\/|^(?:test|bench|scripts)\//.test(file)

/** The text of a string, of a part of a template, or of JSX. */
function textOf({ value }: Node): string {
  const text = typeof value === 'object' ? (value as { raw?: unknown } | null)?.raw : value
  return typeof text === 'string' ? text : ''
}

const argumentOf = (type: Node | undefined, name: string) =>
  type?.type === 'TSTypeReference' && type.typeName?.name === name ? type.typeArguments?.params[0] : undefined

const TYPES = ['TSTypeAliasDeclaration', 'TSInterfaceDeclaration', 'ClassDeclaration']
const TEXTS = ['Literal', 'TemplateElement', 'JSXText']
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

type Reporter = (node: Node, message: string) => void

/** A rule for the files that are no exception. */
function rule(name: string, visitorsOf: (file: string, report: Reporter) => Visitors) {
  return {
    create(context: RuleContext): Visitors {
      const file = relative(root, context.filename).split(sep).join(posix.sep)
      if (EXCEPTIONS[name]?.[file] !== undefined) return {}
      return visitorsOf(file, (node, message) => context.report({ node, message }))
    },
  }
}

/** A rule that says something about each node by itself, or undefined. */
function ruleOf(name: string, types: readonly string[], judge: (node: Node, file: string) => string | undefined) {
  return rule(name, (file, report) => {
    const visit = (node: Node) => {
      const message = judge(node, file)
      if (message !== undefined) report(node, message)
    }
    return Object.fromEntries(types.map((type) => [type, visit]))
  })
}

/** The lines of a function without those of the functions in it, which count for themselves. */
const longFunctions = rule('long-functions', (file, report) => {
  const inner: number[] = []
  const begin = () => void inner.push(0)
  const end = (node: Node) => {
    const lines = node.loc.end.line - node.loc.start.line + 1
    const own = lines - inner.pop()!
    if (inner.length > 0) inner.push(inner.pop()! + lines - 1)
    if (own > FUNCTION_LINES_MAX) report(node, `a function of ${own} lines: at most ${FUNCTION_LINES_MAX}`)
  }
  return isTest(file)
    ? {}
    : Object.fromEntries(
        FUNCTIONS.flatMap((type) => [
          [type, begin],
          [`${type}:exit`, end],
        ]),
      )
})

/** The URL that `app.inject` gets, as far as it is written there. */
function injectedUrl({ callee, arguments: [options] = [] }: Node): string {
  if (callee?.property?.name !== 'inject' || options === undefined) return ''
  const { properties } = options
  const url = properties ? (properties.find(({ key }) => key?.name === 'url')?.value as Node | undefined) : options
  return url ? textOf(url.quasis?.[0] ?? url) : ''
}

export const shapeRules = {
  'long-functions': longFunctions,
  'type-names': ruleOf('type-names', TYPES, ({ id }) =>
    /^(?:Asked|Told|Said|Known|Kept|Thing|Way)$/.test(String(id?.name))
      ? `a type is a noun of the field, not ${String(id?.name)}`
      : undefined,
  ),
  'few-options': ruleOf('few-options', FUNCTIONS, ({ params = [] }, file) => {
    const options = Math.max(0, ...params.map(({ properties }) => properties?.length ?? 0))
    // The properties of a component are named where it is used.
    return options > OPTIONS_MAX && file.endsWith('.ts') ? `${options} options: at most ${OPTIONS_MAX}` : undefined
  }),
  'no-type-puzzles': ruleOf('no-type-puzzles', ['TSIntersectionType'], ({ types = [] }) =>
    types.some((type) => argumentOf(type, 'Pick')) &&
    types.some((type) => argumentOf(argumentOf(type, 'Partial'), 'Omit'))
      ? 'write the type down instead of Pick<…> & Partial<Omit<…>>'
      : undefined,
  ),
  'call-paths': ruleOf('call-paths', ['Literal', 'TemplateElement'], (node, file) =>
    /^(?:apps|packages)\/[^/]+\/src\//.test(file) && !isTest(file) && textOf(node).startsWith('/api/v1/')
      ? 'the path of a call stands in call() alone'
      : undefined,
  ),
  'inject-calls': ruleOf('inject-calls', ['CallExpression'], (node) =>
    injectedUrl(node).startsWith('/api/v1/') ? 'use createTestApi instead of the URL of a call' : undefined,
  ),
  'one-language': ruleOf('one-language', TEXTS, (node, file) =>
    !isTest(file) && !/[/-]words(?:\.\w+)?\.tsx?$/.test(file) && /[äöüÄÖÜß]/.test(textOf(node))
      ? 'another language stands in files of words'
      : undefined,
  ),
}

export const exceptionFiles = Object.values(EXCEPTIONS).flatMap((files) => Object.keys(files))
