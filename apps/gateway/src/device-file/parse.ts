import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isNode, LineCounter, parseDocument, type Document, type Scalar, visit } from 'yaml'
import type { z } from 'zod'
import { deviceFile, type DeviceFile } from './schema.ts'
import { wordsOfError } from './words.ts'

/** `line` and `column` count from 1. */
export type FileError = { line: number; column: number; message: string }
/** `placeOf`: where a value is, or the closest parent that the file has. */
export type Parsed =
  | { value: DeviceFile; placeOf(path: Path): Omit<FileError, 'message'>; errors?: undefined }
  | { value?: undefined; errors: FileError[] }

/** Enough for a hundred cameras with zones; a larger file is a mistake. */
const CHARACTERS_MAX = 1_000_000
const ERRORS_SHOWN = 20
const SECRET_MAX_BYTES = 65_536
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}/g

/** `!file PATH` is replaced by the content of a file. */
export const fileTags = [{ tag: '!file', resolve: (path: string) => path }]

/**
 * Parses the text of a `gateway.yaml` (YAML 1.2, core schema). In every text, `${NAME}` is replaced by the environment
 * variable and `!file PATH` by the file's content; PATH is relative to `folder`. Never throws. Each error has its line
 * and column; none shows a secret's value.
 */
export function parseDeviceFile(text: string, folder: string, environment: NodeJS.ProcessEnv): Parsed {
  if (text.length > CHARACTERS_MAX)
    return { errors: [{ line: 1, column: 1, message: 'The file is larger than 1 MB.' }] }
  const lines = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const errors: FileError[] = []
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    customTags: fileTags,
  })
  for (const { pos, message } of [...document.errors, ...document.warnings])
    errors.push({ ...place(pos[0]), message: firstLine(message) })
  if (errors.length > 0) return { errors: errors.slice(0, ERRORS_SHOWN) }

  visit(document, {
    Scalar(_key, node) {
      const problem = resolveSecret(node, folder, environment)
      if (problem !== undefined) errors.push({ ...place(node.range?.[0] ?? 0), message: problem })
    },
  })
  const plain = toPlain(document)
  if (typeof plain === 'string') errors.push({ line: 1, column: 1, message: plain })
  if (errors.length > 0 || typeof plain === 'string') return { errors: errors.slice(0, ERRORS_SHOWN) }

  const checked = deviceFile.safeParse(plain.value ?? {}, { error: wordsOfError })
  const placeOf = (path: Path) => place(offsetOf(document, path))
  if (checked.success) return { value: checked.data, placeOf }
  for (const { path, message } of checked.error.issues.flatMap(faultsOf))
    errors.push({ ...placeOf(path), message: `${path.join('.') || 'The file'}: ${message}` })
  return { errors: errors.slice(0, ERRORS_SHOWN) }
}

/** Replaces the node's value in place. Returns an error sentence when it cannot. */
function resolveSecret(node: Scalar, folder: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (typeof node.value !== 'string') return undefined
  if (node.tag === '!file') {
    try {
      const path = resolve(folder, node.value)
      const found = statSync(path)
      // A device or a pipe has no end.
      if (!found.isFile() || found.size > SECRET_MAX_BYTES) return '!file must name a regular file of at most 64 KiB.'
      node.value = readFileSync(path, 'utf8').trim()
    } catch {
      return 'The file that !file names cannot be read.'
    }
    return undefined
  }
  let missing: string | undefined
  node.value = node.value.replaceAll(VARIABLE, (_whole, name: string) => {
    const value = environment[name]
    if (value === undefined) missing ??= name
    return value ?? ''
  })
  return missing === undefined ? undefined : `The environment variable ${missing} is not set.`
}

/** The library limits aliases: nested aliases would fill the memory. */
function toPlain(document: Document): { value: unknown } | string {
  try {
    return { value: document.toJS({ maxAliasCount: 50 }) as unknown }
  } catch {
    return 'The file uses too many aliases.'
  }
}

type Path = readonly (string | number)[]
type Fault = { path: Path; message: string }

/** Each unknown key is a fault of its own, at its own line. */
function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const path = issue.path.filter((key) => typeof key !== 'symbol')
  const { message } = issue
  if (issue.code !== 'unrecognized_keys') return [{ path, message }]
  return issue.keys.map((key) => ({ path: [...path, key], message }))
}

/** The offset of a value in the text, or of the closest parent that the file has. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message
}

/** The folder that `!file` paths of a file are relative to. */
export function folderOf(path: string): string {
  return dirname(resolve(path))
}
