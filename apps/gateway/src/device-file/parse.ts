import { dirname, resolve } from 'node:path'
import { APPLICATION_TITLE_MAX } from '@hedgerow/contract'
import { isScalar, type Document, type Node } from 'yaml'
import type { z } from 'zod'
import { namesOf, type PlacedName } from './names.ts'
import { checkReferences, type Problem, type Shown } from './references.ts'
import { deviceFile, type DeviceFile } from './schema.ts'
import { RULE_NAME_MAX } from '../rules/schema.ts'
import { findNamed, putSecret, putStandIn, STAND_INS, type Named, type Secrets, type Written } from './secrets.ts'
import { hintOf, wordsOfError } from './words.ts'
import { warningsOf } from './warnings.ts'
import { keyAt, nodeAt, plainOf, readYaml, type FileError, type Yaml } from './yaml.ts'

/**
 * `names`: what the file names and something else must provide. `warnings`: about values that are valid but unwise.
 */
export type Parsed =
  | { value: DeviceFile; names: PlacedName[]; warnings: FileError[]; errors?: undefined }
  | { value?: undefined; errors: FileError[] }

const ERRORS_SHOWN = 20

/**
 * Parses the text of a `gateway.yaml` (YAML 1.2, core schema). In every text that is not a key, `${NAME}` is replaced
 * by the environment variable and `!file PATH` by the file's content. Never throws. Each error has its line and column,
 * and shows what is written there, never the value that it stands for.
 */
export function parseDeviceFile(text: string, secrets: Secrets, uiTarget?: URL): Parsed {
  const read = readYaml(text)
  if (read.errors) return { errors: read.errors }
  const { document, placeOf } = read.yaml
  const named = findNamed(document)
  const written = new Map<Node, string>(named.map((each) => [each.node, each.written]))
  const shown: Shown = (path, value) => {
    const node = nodeAt(document, path)
    return (node && written.get(node)) ?? value
  }
  const isHidden = secrets === 'hidden'
  /** Where each variable stands first that looks percent-encoded. */
  const encoded = new Map<string, number>()
  const missing = isHidden
    ? []
    : named.flatMap((each) => {
        const offset = each.node.range?.[0] ?? 0
        const message = putSecret(each, secrets, (name) => encoded.set(name, encoded.get(name) ?? offset))
        return message === undefined ? [] : [{ ...placeOf(offset), message }]
      })
  if (missing.length > 0) return { errors: missing.slice(0, ERRORS_SHOWN) }
  const { value, problems } =
    isHidden && named.length > 0 ? checkHidden(document, named, shown) : check(document, shown)
  if (problems.length > 0) return { errors: inWords(problems, read.yaml, written) }
  const found = value ?? deviceFile.parse({})
  const names = namesOf(found).map((each) => {
    const isKey = each.path.at(-1) === each.name
    const offset = (isKey && keyAt(document, each.path)?.range?.[0]) || offsetOf(document, each.path)
    return { ...each, ...placeOf(offset), shown: shown(each.path, each.name) }
  })
  // Nothing else in the file refers to these. What is written may be longer than a name.
  for (const [index, rule] of found.rules.entries())
    rule.name = shown(['rules', index, 'name'], rule.name).slice(0, RULE_NAME_MAX)
  for (const [name, each] of Object.entries(found.applications))
    if (each.title !== undefined)
      each.title = shown(['applications', name, 'title'], each.title).slice(0, APPLICATION_TITLE_MAX)
  const warnings: FileError[] = warningsOf(found, uiTarget).map(({ path, message }) => ({
    ...placeOf(offsetOf(document, path)),
    path,
    message,
  }))
  for (const [name, offset] of encoded)
    warnings.push({
      ...placeOf(offset),
      message: `${name} looks percent-encoded, and is taken as it is. Write the plain user or password in it.`,
    })
  return { value: found, names, warnings }
}

/** Whether a text has values that `hidden` hides. */
export function hasSecrets(text: string): boolean {
  const { yaml } = readYaml(text)
  return yaml !== undefined && findNamed(yaml.document).length > 0
}

/** Tries stand-ins for hidden values until each suits its setting. Tells nothing that depends on such a value. */
function checkHidden(document: Document, named: readonly Named[], shown: Shown): Checked {
  const hidden = new Map<Node | undefined, { each: Named; index: number }>()
  for (const [index, each] of named.entries()) {
    putStandIn(each, index, 0)
    hidden.set(each.node, { each, index })
  }
  let checked = check(document, shown)
  for (let choice = 1; choice < STAND_INS; choice++) {
    const unsuited = checked.problems.flatMap(({ path }) => hidden.get(nodeAt(document, path)) ?? [])
    if (unsuited.length === 0) break
    for (const { each, index } of unsuited) putStandIn(each, index, choice)
    checked = check(document, shown)
  }
  const { value, problems } = checked
  return { value, problems: problems.filter(({ path, isCertain }) => isCertain || !hidden.has(nodeAt(document, path))) }
}

type Checked = { value: DeviceFile | undefined; problems: Fault[] }
/** `isCertain`: it does not depend on the value of a text. */
type Fault = Problem & { isCertain?: boolean }

function check(document: Document, shown: Shown): Checked {
  const plain = plainOf(document)
  if (!plain)
    return { value: undefined, problems: [{ path: [], message: 'The aliases of the file stand for too much.' }] }
  const checked = deviceFile.safeParse(plain.value ?? {}, { error: wordsOfError })
  if (checked.success) return { value: checked.data, problems: checkReferences(checked.data, shown) }
  return { value: undefined, problems: checked.error.issues.flatMap(faultsOf) }
}

/** Each unknown key is a fault of its own, at its own line. */
function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const path = issue.path.filter((key) => typeof key !== 'symbol')
  const { message } = issue
  if (issue.code !== 'unrecognized_keys') return [{ path, message, isCertain: issue.code === 'invalid_type' }]
  return issue.keys.map((key) => ({ path: [...path, key], message, isCertain: true }))
}

function inWords(problems: readonly Problem[], { document, placeOf }: Yaml, written: Written): FileError[] {
  return problems.slice(0, ERRORS_SHOWN).map(({ path, message }) => {
    const node = nodeAt(document, path)
    const hint = hintOf(node && (written.get(node) ?? (isScalar(node) ? node.value : undefined)), message)
    return { ...placeOf(offsetOf(document, path)), path, message: `${path.join('.') || 'The file'}: ${message}${hint}` }
  })
}

/** The offset of a value in the text, or of the closest parent that the file has. */
function offsetOf(document: Document, path: Problem['path']): number {
  for (let length = path.length; length > 0; length--) {
    const node = nodeAt(document, path.slice(0, length))
    if (node?.range) return node.range[0]
  }
  return 0
}

/** The folder that `!file` paths of a file are relative to. */
export function folderOf(path: string): string {
  return dirname(resolve(path))
}
