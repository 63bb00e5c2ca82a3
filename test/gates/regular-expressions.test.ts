import { readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseSync, Visitor, type Expression } from 'oxc-parser'
import { analyse } from 'scslre'
import type * as origins from '../../apps/hub/src/gateway-proxy/origins.ts'
import type * as web from '../../apps/hub/src/http/web.ts'
import { beforeAll, describe, expect, it, vi } from 'vitest'

/**
 * No regular expression of ours takes more than linear time: strangers' text reaches most of them, and one that
 * backtracks would block the process. Those of tests read only the tests' own text, so they are left out.
 */

const root = resolve(import.meta.dirname, '../..')
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'apps', 'packages', 'scripts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(?:ts|tsx|js|mjs)$/.test(file) && !/\.test\.tsx?$|\/testing\//.test(file))

/** A module as new: another test of this process may have loaded it, and its expressions are built when it loads. */
const anew = <M>(file: string) => import(`${pathToFileURL(resolve(root, file)).href}?anew`) as Promise<M>

/** Runs the code that builds expressions at run time, in each file that does. */
const builders: Record<string, (file: string) => Promise<unknown>> = {
  'apps/hub/src/gateway-proxy/origins.ts': async (file) => {
    const { createOrigins } = await anew<typeof origins>(file)
    createOrigins({ gatewayOrigin: 'https://gw-{id}-x.example.net', publicUrl: undefined })
  },
  'apps/hub/src/gateway-proxy/visitor-access.ts': anew,
  'apps/hub/src/http/errors.ts': anew,
  'apps/hub/src/http/web.ts': async (file) => {
    const { screenTest } = await anew<typeof web>(file)
    screenTest(['/login', '/gateways/:id', '/proxy/gateway/:id', '/:one/:two/:three'])
  },
  'packages/contract/src/enrolment.ts': anew,
  'packages/contract/src/fields.ts': anew,
  'packages/contract/src/notices.ts': anew,
  'packages/contract/src/schedules.ts': anew,
}

type Found = { at: string; source: string; flags: string }

const written: Found[] = []
const builtAt: string[] = []
for (const file of files) {
  const code = readFileSync(resolve(root, file), 'utf8')
  const { program, errors } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const lineOf = (offset: number) => `${file}:${code.slice(0, offset).split('\n').length}`
  const noteBuilt = (node: { callee: Expression; start: number }) => {
    if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') builtAt.push(lineOf(node.start))
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node) written.push({ at: lineOf(node.start), source: node.regex.pattern, flags: node.regex.flags })
    },
    NewExpression: noteBuilt,
    CallExpression: noteBuilt,
  }).visit(program)
}

/** The constructor's arguments while the builders run, and the calling line. */
const built: Found[] = []
beforeAll(async () => {
  const note = (made: RegExp) => {
    // The line of the caller, after the message, this function and the proxy's.
    const caller = new Error().stack?.split('\n')[3] ?? ''
    const at = /((?:apps|packages|scripts)\/[^:]+:\d+):\d+/.exec(caller.replace('?anew', ''))?.[1]
    if (at !== undefined && !caller.includes('node_modules')) built.push({ at, source: made.source, flags: made.flags })
    return made
  }
  vi.stubGlobal(
    'RegExp',
    new Proxy(RegExp, {
      construct: (target, args) => note(Reflect.construct(target, args) as RegExp),
      apply: (target, self, args) => note(Reflect.apply(target, self, args) as RegExp),
    }),
  )
  for (const [file, build] of Object.entries(builders)) await build(file)
  vi.unstubAllGlobals()
})

/** Why an expression is slow, in words. */
const faultsOf = ({ at, source, flags }: Found): string[] =>
  analyse({ source, flags }).reports.map(
    ({ exponential, character }) =>
      `${at}: /${source}/${flags} takes ${exponential ? 'exponential' : 'quadratic'} time on many ${character.pick}`,
  )

describe('regular expressions', () => {
  it.each([
    ['/\\/+$/', 'quadratic'],
    ['/^(?:a+)+$/', 'exponential'],
    ['/^\\d+[\\w.]*$/', 'quadratic'],
    ['/\\w+\\.\\w+/', 'quadratic'],
  ])('%s is found: %s', (literal, how) => {
    const faults = faultsOf({ at: 'here', source: literal.slice(1, -1), flags: '' })
    expect(faults.join()).toContain(how)
  })

  it('in literals take linear time', () => {
    expect(written.length).toBeGreaterThan(100)
    expect(written.flatMap(faultsOf)).toEqual([])
  })

  it('that are built at run time are all built here, and take linear time', () => {
    expect([...new Set(built.map(({ at }) => at))].toSorted()).toEqual([...new Set(builtAt)].toSorted())
    expect(built.flatMap(faultsOf)).toEqual([])
  })
})
