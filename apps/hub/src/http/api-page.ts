import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { audienceOf } from '../access/policy.ts'
import { describeApi, describedCalls, refusalsOf, titleOf } from './openapi.ts'

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The API for machines at /api/openapi.json, and for people at /api/docs: one page without scripts. */
export function apiDescriptionRoutes(app: FastifyInstance): void {
  const style = readFileSync(join(import.meta.dirname, 'api-page.css'), 'utf8')
  // Built on the first request: building takes tens of milliseconds at a start.
  let document: string | undefined
  let page: string | undefined

  app.get('/api/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(describeApi())
    return reply.type('application/json; charset=utf-8').send(document)
  })
  app.get('/api/docs', (_request, reply) => {
    page ??= renderPage()
    return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page)
  })
  app.get('/api/docs.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(style))
}

type Operation = {
  description: string
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

function renderPage(): string {
  const { paths } = describeApi() as { paths: Record<string, Record<string, Operation>> }
  const calls = describedCalls().map((call) => {
    const { name, method, path, access } = call
    const braced = path.replaceAll(/:(\w+)/g, '{$1}')
    const described = paths[braced]![method.toLowerCase()]!
    return `<details id="${name}"><summary><code><span class="method">${method}</span>${escape(braced)}</code>
<span class="access">${audienceOf(access)}</span></summary>
<div><p>${titleOf(name)}. ${escape(described.description)}</p>
${renderOperation(described, refusalsOf(call))}</div></details>`
  })
  const errors = Object.entries(errorTable).map(
    ([code, { status, message }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${escape(message)}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hub API</title>
<link rel="stylesheet" href="/api/docs.css">
<body>
<main>
<h1>Hub API</h1>
<p>Every call hangs below <code>/api</code> and speaks JSON. Those that need a session take the access token of
<code>POST /v1/auth/login</code> as <code>Authorization: Bearer</code>. For machines:
<a href="/api/openapi.json">openapi.json</a>.</p>
<h2>Calls</h2>
${calls.join('\n')}
<h2>Errors</h2>
<p>A refusal answers <code>{ "error": code, "message": sentence, "fieldErrors"?: { field: sentence } }</code>.</p>
<table><thead><tr><th>Code</th><th>Status</th><th>Message</th></tr></thead>
<tbody>${errors.join('\n')}</tbody></table>
</main>
</body>
</html>
`
}

function renderOperation(
  { parameters = [], requestBody, responses }: Operation,
  refusals: ReadonlyMap<number, readonly string[]>,
): string {
  const named = parameters.map(
    (parameter) =>
      `<tr><td><code>${escape(parameter.name)}</code></td>` +
      `<td>${parameter.in}${parameter.required ? '' : ', optional'}</td>` +
      `<td><code>${escape(JSON.stringify(parameter.schema))}</code></td></tr>`,
  )
  const table = named.length > 0 ? `<table><tbody>${named.join('')}</tbody></table>` : ''
  const answers = Object.entries(responses)
  const content = answers
    .filter(([status]) => status < '400')
    .map(([status, answer]) => renderContent(`Answer ${status}`, answer.content))
  const rows = [...refusals].map(([status, codes]) => {
    const links = codes.map((code) => `<a href="#${code}"><code>${code}</code></a>`)
    return `<tr><td>${status}</td><td>${links.join(', ')}</td></tr>`
  })
  return `${table}${renderContent('Body', requestBody?.content)}${content.join('')}
<h3>Refusals</h3><table><tbody>${rows.join('')}</tbody></table>`
}

function renderContent(title: string, content: Record<string, { schema: object }> | undefined): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => `<h3>${title}: ${type}</h3><pre>${escape(JSON.stringify(schema, null, 2))}</pre>`)
    .join('')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
