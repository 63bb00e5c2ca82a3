import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv'
import { parse } from 'yaml'
import { publishedSchema, type PublishedSchema } from './published-schema.ts'

/**
 * The gate "public files" of `npm run check`: the files that GitHub, Renovate, editors and containers read, each
 * against its published schema. Issue forms and the devcontainer are held against `ownSchemas` too, because no npm
 * package has their published ones: without the Internet these cannot be had.
 */
const github = (repository: string, commit: string, path: string) => ({
  url: `https://raw.githubusercontent.com/${repository}/${commit}/${path}`,
})
const SCHEMA_STORE = ['SchemaStore/schemastore', '3b6446ad8a077bac56f4a4796c0b7fd88927fc8e'] as const

const text = { type: 'string', minLength: 1 }
const flag = { type: 'boolean' }
const closed = (properties: object, ...required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const words = { type: 'array', items: text, minItems: 1, uniqueItems: true }
const labelled = { label: text, description: text }
const formPart = (type: string, attributes: object, ...required: string[]) =>
  closed(
    {
      type: { const: type },
      id: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
      attributes: closed(attributes, ...required),
      ...(['markdown', 'checkboxes'].includes(type) ? {} : { validations: closed({ required: flag }) }),
    },
    'type',
    'attributes',
  )

/** What our files use of their schemas: narrower than the published ones. */
const ownSchemas = {
  form: closed(
    {
      name: text,
      description: text,
      labels: words,
      body: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['type'],
          discriminator: { propertyName: 'type' },
          oneOf: [
            formPart('markdown', { value: text }, 'value'),
            formPart('input', { ...labelled, placeholder: text }, 'label'),
            formPart('textarea', { ...labelled, placeholder: text, render: text }, 'label'),
            formPart('dropdown', { ...labelled, options: words }, 'label', 'options'),
            formPart(
              'checkboxes',
              {
                ...labelled,
                options: { type: 'array', minItems: 1, items: closed({ label: text, required: flag }, 'label') },
              },
              'label',
              'options',
            ),
          ],
        },
      },
    },
    'name',
    'description',
    'body',
  ),
  formChooser: closed({ blank_issues_enabled: flag }),
  devcontainer: closed(
    {
      name: text,
      image: text,
      remoteUser: text,
      postCreateCommand: text,
      forwardPorts: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65535 } },
      customizations: closed({ vscode: closed({ extensions: words }) }),
    },
    'name',
    'image',
  ),
}

/** Renovate's schema lets unknown names pass: these are all that it has. */
function withKnownNames(schema: AnySchemaObject): AnySchemaObject {
  const { definitions } = schema as { definitions: Record<string, { items?: { allOf?: { properties: object }[] } }> }
  const ofRules = definitions['packageRules']?.items?.allOf?.[0]?.properties ?? {}
  const propertyNames = { enum: [...new Set(['$schema', ...Object.keys(definitions), ...Object.keys(ofRules)])] }
  return { allOf: [schema], propertyNames, properties: { packageRules: { items: { propertyNames } } } }
}

type Kind = {
  glob: string
  published: PublishedSchema
  own?: object
  narrower?: (schema: AnySchemaObject) => AnySchemaObject
}
const kinds: Kind[] = [
  {
    glob: 'renovate.json',
    published: {
      name: 'Renovate',
      npm: 'renovate@44.121.2',
      file: 'renovate-schema.json',
      sha256: '989a29d9d8f1c421436b68de9472898283b55db6c5cf98fb243489e40e338a02',
    },
    narrower: withKnownNames,
  },
  {
    glob: '.github/ISSUE_TEMPLATE/*.yaml',
    published: {
      name: 'issue forms',
      ...github(...SCHEMA_STORE, 'src/schemas/json/github-issue-forms.json'),
      sha256: 'c2722dbf00334ce4fdeffa960b8c9047caf4f1cbb8f3809663f4d604b1d3ae76',
    },
    own: ownSchemas.form,
  },
  {
    glob: '.github/ISSUE_TEMPLATE/config.yml',
    published: {
      name: 'the chooser of issue forms',
      ...github(...SCHEMA_STORE, 'src/schemas/json/github-issue-config.json'),
      sha256: '899e718f4b8c965413b07ec63d8f089792a10c42409270db560b9a7ec0224a5a',
    },
    own: ownSchemas.formChooser,
  },
  {
    glob: '.devcontainer/devcontainer.json',
    published: {
      name: 'devcontainers',
      ...github(
        'devcontainers/spec',
        'c95ffeed1d059abfe9ffbe79762dc2fa4e7c2421',
        'schemas/devContainer.base.schema.json',
      ),
      sha256: 'a0883c0405ff433db188849d458fb20b9c0d73e0ba1a6e44c1d83f3b485408dd',
    },
    own: ownSchemas.devcontainer,
  },
]

/** Every fault of the files below a folder, and what could not be checked. */
export async function findFaults(root: string): Promise<{ faults: string[]; unchecked: string[] }> {
  const faults: string[] = []
  const unchecked: string[] = []
  for (const kind of kinds) {
    const checks = await checksOf(kind)
    if (!checks.published)
      (kind.own ? unchecked : faults).push(`the published schema of ${kind.published.name} cannot be had now`)
    for (const file of filesOf(root, kind.glob)) faults.push(...faultsOf(root, file, Object.values(checks)))
  }
  for (const file of filesOf(root, '.github/workflows/*')) faults.push(...(await workflowFaults(root, file)))
  faults.push(...editorConfigFaults(readFileSync(join(root, '.editorconfig'), 'utf8')))
  return { faults, unchecked }
}

function filesOf(root: string, glob: string): string[] {
  const files = globSync(glob, { cwd: root })
  if (files.length === 0) throw new Error(`There is no ${glob}.`)
  return files.toSorted()
}

const compiled = new Map<Kind, { own?: ValidateFunction; published?: ValidateFunction }>()

async function checksOf(kind: Kind) {
  const cached = compiled.get(kind)
  if (cached) return cached
  const schema = await publishedSchema(kind.published)
  const checks = {
    ...(kind.own && { own: compile(kind.own) }),
    ...(schema && { published: compile(kind.narrower?.(schema) ?? schema) }),
  }
  compiled.set(kind, checks)
  return checks
}

function compile(schema: AnySchemaObject): ValidateFunction {
  const options = { strict: false, validateFormats: false, discriminator: true, allErrors: true }
  return String(schema['$schema']).includes('2019-09')
    ? new Ajv2019(options).compile(schema)
    : new Ajv(options).compile(schema)
}

function faultsOf(root: string, file: string, checks: readonly ValidateFunction[]): string[] {
  let value: unknown
  try {
    value = parse(readFileSync(join(root, file), 'utf8'))
  } catch (error) {
    return [`${file}: ${String(error)}`]
  }
  return checks
    .filter((check) => !check(value))
    .flatMap(({ errors }) => errors!)
    .map(({ instancePath, message, params }) => `${file}${instancePath}: ${message} ${JSON.stringify(params)}`)
}

/** GitHub's own reader of workflows, with its schema, and rules of ours: who may do what, and what runs. */
async function workflowFaults(root: string, file: string): Promise<string[]> {
  // Its modules import JSON without saying so, which Node refuses.
  const hooks = registerHooks({
    load: (url, context, next) =>
      next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
  })
  const { convertWorkflowTemplate, parseWorkflow } = await import('@actions/workflow-parser')
  hooks.deregister()
  const content = readFileSync(join(root, file), 'utf8')
  const quiet = () => {}
  const { context, value } = parseWorkflow({ name: file, content }, { error: quiet, info: quiet, verbose: quiet })
  if (value) await convertWorkflowTemplate(context, value)
  const faults = context.errors.getErrors().map(String)
  if (faults.length > 0) return faults
  for (const [, action] of content.matchAll(/\buses: (\S+)/g))
    if (!/^\.\/|@[0-9a-f]{40}$/.test(action!)) faults.push(`${action} has no full commit hash`)
  const { permissions } = parse(content) as { permissions?: unknown }
  if (JSON.stringify(permissions) !== '{"contents":"read"}') faults.push('its permissions are not "contents: read"')
  if (/\bpull_request/.test(content) && /\bsecrets\b|pull_request_target/.test(content))
    faults.push('a pull request reaches secrets')
  return faults.map((fault) => `${file}: ${fault}`)
}

/** EditorConfig has no schema: its properties and values as the specification 0.17 lists them. */
function editorConfigFaults(content: string): string[] {
  const patterns: Record<string, RegExp> = {
    root: /^true$/,
    charset: /^(?:latin1|utf-8|utf-8-bom|utf-16be|utf-16le)$/,
    end_of_line: /^(?:lf|crlf|cr)$/,
    indent_style: /^(?:space|tab)$/,
    indent_size: /^(?:\d+|tab)$/,
    tab_width: /^\d+$/,
    insert_final_newline: /^(?:true|false)$/,
    trim_trailing_whitespace: /^(?:true|false)$/,
    max_line_length: /^(?:\d+|off)$/,
  }
  return content
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^[#;]|^\[.+\]$/.test(line))
    .filter((line) => {
      const [, key = '', value = ''] = /^(\w+) = (.+)$/.exec(line) ?? []
      return !patterns[key]?.test(value)
    })
    .map((line) => `.editorconfig: "${line}" is no property with a value of it`)
}

if (import.meta.main) {
  const { faults, unchecked } = await findFaults(join(import.meta.dirname, '..'))
  for (const finding of faults) console.error(finding)
  for (const finding of unchecked) console.log(`Not checked: ${finding}; our own narrower one was`)
  if (faults.length > 0) process.exitCode = 1
}
