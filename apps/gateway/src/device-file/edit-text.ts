/**
 * Changes values of a YAML text in place: every other line keeps its bytes. What cannot be changed so, such as an
 * alias, is refused; a text is never written anew.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  stringify,
  type Document,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { readYaml, writtenOf } from './yaml.ts'

export type Path = readonly (string | number)[]
/** No value: what stands at the path is deleted. The number behind a list's last item adds one. */
export type Edit = { path: Path; value?: unknown }
type Collection = YAMLMap | YAMLSeq
type Span = { start: number; end: number }

/** Somebody has to change this part as text; the message says which. */
export class NotEditable extends Error {
  override name = 'NotEditable'
}

/**
 * The text, which has no errors, after these edits in their order. A value that is `!file PATH` names a file, as in
 * `writtenOf`. Throws NotEditable. The result may have errors: check it before it is saved.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const edited = edits.reduce(applyEdit, text)
  // A file of Windows stays one: editors show a single other line end as a broken line.
  const isWindows = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  return isWindows ? edited.replaceAll(/\r?\n/g, '\r\n') : edited
}

function applyEdit(text: string, { path, value }: Edit): string {
  const { document, written } = read(text)
  const before = valueAt(written, path)
  if (isDeepStrictEqual(before, value)) return text
  const steps = value === undefined ? undefined : stepsTo(text, document, path, before, value)
  if (steps) return steps.reduce(applyEdit, text)
  const edited = value === undefined ? spliceAway(text, document, path) : spliceIn(text, document, path, value)
  const result = edited === undefined ? undefined : readYaml(edited).yaml
  // An anchor, for example, has its value at other places too.
  if (result && isDeepStrictEqual(writtenOf(result.document) ?? {}, withValue(written, path, value) ?? {}))
    return edited!
  throw new NotEditable(refusal(path))
}

function read(text: string) {
  const { yaml, errors } = readYaml(text)
  if (errors) throw new NotEditable(errors[0]?.message)
  return { document: yaml.document, written: writtenOf(yaml.document) }
}

const refusal = (path: Path) =>
  `${path.join('.')} cannot be changed here, because of how the file writes it (an alias or an anchor, for example). ` +
  'Change it as text, under Configuration.'

/** Smaller edits that come to the same: what two groups or lists have in common stays as it is written. */
function stepsTo(text: string, document: Document, path: Path, before: unknown, value: unknown): Edit[] | undefined {
  if (isRecord(before) && isRecord(value)) {
    const gone = Object.keys(before).filter((key) => !Object.hasOwn(value, key))
    return [
      ...Object.entries(value).map(([key, each]) => ({ path: [...path, key], value: each })),
      ...gone.map((key) => ({ path: [...path, key] })),
    ]
  }
  if (!Array.isArray(before) || !Array.isArray(value) || before.length === 0) return undefined
  const at = (index: number): Path => [...path, index]
  const removed = before.flatMap((_, index) => (index < value.length ? [] : [index]))
  const common = commonOf(before, value)
  if (common.kept > 0 && before.length !== value.length)
    return [
      ...common.removed.toReversed().map((index) => ({ path: at(index) })),
      ...value.slice(common.kept).map((each, index) => ({ path: at(common.kept + index), value: each })),
    ]
  const node = nodeIn(document, path)
  const isOnOneLine = isSeq(node) && !/\n/.test(sliceOf(text, spanOf(text, node)))
  if (value.length === 0 || (isOnOneLine && !value.every(isRecord))) return undefined
  return [
    ...value.map((each, index) => ({ path: at(index), value: each as unknown })),
    ...removed.toReversed().map((index) => ({ path: at(index) })),
  ]
}

/** How many of the wanted items are there in their order already, and which others are not wanted. */
function commonOf(before: readonly unknown[], value: readonly unknown[]): { kept: number; removed: number[] } {
  let kept = 0
  const removed = before.flatMap((each, index) => {
    if (kept >= value.length || !isDeepStrictEqual(each, value[kept])) return [index]
    kept += 1
    return []
  })
  return { kept, removed }
}

/** The node at a path, or undefined; an alias in between is none. */
function nodeIn(document: Document, path: Path): unknown {
  return path.reduce<unknown>((node, key) => {
    if (isSeq(node)) return node.items[Number(key)]
    return isMap(node) ? node.items[indexOfKey(node, key)]?.value : undefined
  }, document.contents)
}

/** Undefined when the text cannot be changed in place. */
function spliceIn(text: string, document: Document, path: Path, value: unknown): string | undefined {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = nodeIn(document, path.slice(0, depth))
    if (node === undefined || node === null) continue
    const rest = path.slice(depth)
    const isNothing = isScalar(node) && node.value === null
    if (rest.length > 0 && isCollection(node)) return spliceAdd(text, node as Collection, rest, value)
    if (rest.length > 0 && !isNothing) return undefined
    if (depth > 0) return spliceOver(text, node, inFlow(built(rest, value)))
  }
  // The file has comments at most.
  return `${text}${/(?:^|\n)$/.test(text) ? '' : '\n'}${pairInBlock(path, value, 0)}\n`
}

/** Replaces a value. */
function spliceOver(text: string, node: unknown, by: string): string | undefined {
  if (isAlias(node)) return undefined
  const span = withProperties(text, node, spanOf(text, node))
  if (isCollection(node) && !node.flow && node.items.length > 0)
    return spliceBlock(text, span, by) ?? replace(text, span, by)
  if (span.start < span.end) return replace(text, span, by)
  const before = /\s$/.test(text.slice(0, span.start)) ? '' : ' '
  return replace(text, span, `${before}${by}${text[span.end] === '#' ? ' ' : ''}`)
}

/** Adds an entry after the last one of a collection. */
function spliceAdd(text: string, parent: Collection, rest: Path, value: unknown): string | undefined {
  if (isSeq(parent) && rest[0] !== parent.items.length) return undefined
  const last = parent.items.length === 0 ? undefined : spanOfItem(text, parent, parent.items.length - 1)
  if (parent.flow) {
    const entry = isSeq(parent) ? inFlow(built(rest.slice(1), value)) : inFlow(built(rest, value)).slice(2, -2)
    if (last) return replace(text, { start: last.end, end: last.end }, `, ${entry}`)
    return replace(text, spanOf(text, parent), isSeq(parent) ? `[${entry}]` : `{ ${entry} }`)
  }
  if (!last) return undefined
  const indent = indentOf(text, parent)
  const at = endOfComments(text, last.end, indent)
  const entry = isSeq(parent) ? inBlock('-', built(rest.slice(1), value), indent) : pairInBlock(rest, value, indent)
  return replace(text, { start: at, end: at }, `\n${' '.repeat(indent)}${entry}`)
}

/** A key that is switched off by a `#`, such as `#rules:`, `#  api: {}` or `# rules:`. */
const KEY_OFF = /^ *#(?:| {2,})[\w-]+:(?:\s|$)|^ *# [\w-]+:\s*$/

/**
 * The end of the line of an entry's last character, or of the last comment below it that belongs to this entry: one
 * that is further in than the entry begins. In `#  url: x` the spaces behind the `#` are those of the key.
 */
function endOfComments(text: string, entryEnd: number, indent: number): number {
  const lineEnd = text.indexOf('\n', entryEnd)
  if (lineEnd < 0) return text.length
  let at = lineEnd
  for (const { 1: line = '', index, 0: whole } of text.slice(lineEnd).matchAll(/\n([^\n]*)/g)) {
    if (line.trim() === '') continue
    const [, before = '', behind = ''] = /^( *)#( *)/.exec(line) ?? []
    if (!line.slice(before.length).startsWith('#')) break
    const depth = before === '' && behind.length > 1 ? behind.length : before.length
    if (depth > indent) at = lineEnd + index + whole.length
    else if (depth < indent || KEY_OFF.test(line)) break
  }
  return at
}

/** Deletes a key of a group or an item of a list. */
function spliceAway(text: string, document: Document, path: Path): string | undefined {
  const parent = nodeIn(document, path.slice(0, -1))
  if (!isMap(parent) && !isSeq(parent)) return undefined
  const index = isMap(parent) ? indexOfKey(parent, path.at(-1)!) : Number(path.at(-1))
  const span = spanOfItem(text, parent, index)
  if (!span) return undefined
  if (parent.items.length === 1) {
    return path.length === 1 ? withoutLines(text, span) : spliceOver(text, parent, isSeq(parent) ? '[]' : '{}')
  }
  return parent.flow ? spliceFlow(text, parent, index, span) : withoutLines(text, span)
}

/** Deletes an entry of a block; in front of it on its line there may be the `-` of a list, which stays. */
function withoutLines(text: string, { start, end }: Span): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', end)
  const isAlone = text.slice(lineStart, start).trim() === ''
  if (isAlone) return replace(text, { start: lineStart, end: lineEnd < 0 ? text.length : lineEnd + 1 }, '')
  return replace(text, { start: text.slice(0, start).trimEnd().length, end: lineEnd < 0 ? text.length : lineEnd }, '')
}

/** Deletes an item between brackets with one of its commas; one that is left at the end is no fault. */
function spliceFlow(text: string, parent: Collection, index: number, { start, end }: Span): string {
  const comma = /^[ \t]*,/.exec(text.slice(end))?.[0].length ?? 0
  const isAlone = /(?:^|\n)[ \t]*$/.test(text.slice(0, start)) && /^[ \t\r]*(?:#|\n)/.test(text.slice(end + comma))
  if (isAlone) return withoutLines(text, { start, end })
  const [before, after] = [spanOfItem(text, parent, index - 1), spanOfItem(text, parent, index + 1)]
  if (after && !text.slice(end, after.start).includes('\n')) return replace(text, { start, end: after.start }, '')
  if (before && comma === 0 && !text.slice(before.end, start).includes('\n'))
    return replace(text, { start: before.end, end }, '')
  return replace(text, { start, end: end + comma }, '')
}

/** Puts a short value behind the key instead of a block below it: the lines of the block go, all comments stay. */
function spliceBlock(text: string, { start, end }: Span, by: string): string | undefined {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', end)
  const after = text.slice(end, lineEnd < 0 ? text.length : lineEnd + 1)
  const below = after.trim() === '' ? '' : text.slice(lineStart, start) + after.trimStart()
  let head = lineStart
  let line: string
  do {
    const before = text.lastIndexOf('\n', head - 2) + 1
    line = text.slice(before, head)
    head = before
  } while (head > 0 && /^\s*(?:#|$)/.test(line))
  const comment = line.search(/\s#/)
  const key = head + (comment < 0 ? line.trimEnd().length : line.slice(0, comment).trimEnd().length)
  if (text[key - 1] !== ':' || text.slice(lineStart, start).trim() !== '') return undefined
  return `${text.slice(0, key)} ${by}${text.slice(key, lineStart)}${below}${text.slice(end + after.length)}`
}

function indexOfKey(map: YAMLMap, key: string | number): number {
  return map.items.findIndex((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
}

/** The node from its first character to its last, without its anchor and without comments after it. */
function spanOf(text: string, node: unknown): Span {
  const { range } = node as { range?: readonly [number, number, number] | null }
  const [start = 0, end = 0] = range ?? []
  if (isCollection(node) && !node.flow && node.items.length > 0)
    return { start, end: spanOfItem(text, node as Collection, node.items.length - 1)!.end }
  return { start, end: start + text.slice(start, end).trimEnd().length }
}

/** With the `!file` before it. */
function withProperties(text: string, node: unknown, { start, end }: Span): Span {
  const isFile = isScalar(node) && node.tag === '!file'
  const before = isFile ? (/!file\s+$/.exec(text.slice(0, start))?.[0].length ?? 0) : 0
  return { start: start - before, end }
}

function spanOfItem(text: string, parent: Collection, index: number): Span | undefined {
  const item = parent.items[index]
  if (item === undefined) return undefined
  if (isSeq(parent)) {
    const { start, end } = spanOf(text, item)
    return { start: parent.flow ? propertiesBefore(text, start) : dashBefore(text, parent, index), end }
  }
  const pair = item as YAMLMap['items'][number]
  const key = spanOf(text, pair.key)
  const value = pair.value === null ? key : spanOf(text, pair.value)
  return { start: key.start, end: Math.max(key.end, value.end) }
}

/** Where an item between brackets begins with its anchor and tag. */
function propertiesBefore(text: string, start: number): number {
  const from = 1 + Math.max(...[',', '[', '{', '\n'].map((sign) => text.lastIndexOf(sign, start - 1)))
  return start - text.slice(from, start).trimStart().length
}

/** A comment before the item may have a dash too. */
function dashBefore(text: string, parent: YAMLSeq, index: number): number {
  const from = index === 0 ? (parent.range?.[0] ?? 0) : spanOf(text, parent.items[index - 1]).end
  return from + (/^(?:\s|#[^\n]*(?:\n|$))*/.exec(text.slice(from))?.[0].length ?? 0)
}

/** The column of a block collection's entries. */
function indentOf(text: string, parent: Collection): number {
  const first = spanOfItem(text, parent, 0)
  return first ? first.start - (text.lastIndexOf('\n', first.start - 1) + 1) : 0
}

function pairInBlock([key = '', ...rest]: Path, value: unknown, indent: number): string {
  const head = `${plainKey(String(key))}:`
  if (typeof rest[0] !== 'string') return inBlock(head, built(rest, value), indent)
  return `${head}\n${' '.repeat(indent + 2)}${pairInBlock(rest, value, indent + 2)}`
}

/** An entry of a block; what is long goes on lines of its own, two columns further in. */
function inBlock(head: string, value: unknown, indent: number): string {
  const inner = indent + 2
  const isList = Array.isArray(value) && value.length > 0 && value.every(isRecord)
  const isGroup = isRecord(value) && (Object.keys(value).length > 3 || Object.values(value).some(isLong))
  if (!isList && !isGroup) return `${head} ${inFlow(value)}`
  const lines = isList
    ? value.map((each) => inBlock('-', each, inner))
    : Object.entries(value as object).map(([key, each]) => inBlock(`${plainKey(key)}:`, each, inner))
  const gap = `\n${' '.repeat(inner)}`
  return `${head}${head === '-' ? ' ' : gap}${lines.join(gap)}`
}

function plainKey(key: string): string {
  return stringify(key, { lineWidth: 0 }).trimEnd()
}

const FILE = /^!file (\S.*)$/

/** Other programs read some plain words as true, false or null. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z][a-z0-9_-]*$/i

/** Other texts than words are quoted, because an address has characters with another meaning in YAML. */
function inFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inFlow).join(', ')}]`
  // YAML has NaN and infinity, JSON does not.
  if (typeof value === 'number') return stringify(value).trimEnd()
  const file = typeof value === 'string' ? FILE.exec(value)?.[1] : undefined
  if (file !== undefined) return `!file ${JSON.stringify(file)}`
  if (typeof value === 'string' && PLAIN.test(value)) return value
  if (!isRecord(value)) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, each]) => `${plainKey(key)}: ${inFlow(each)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

/** The groups and lists that a new value needs around itself. */
function built([key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  const inner = built(rest, value)
  return typeof key === 'number' ? [inner] : { [key]: inner }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)] as unknown
    return isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, value)
}

/** The values as they should be after an edit. */
function withValue(values: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  const inner = withValue(valueAt(values, [key]), rest, value)
  if (Array.isArray(values))
    return inner === undefined ? values.toSpliced(Number(key), 1) : values.toSpliced(Number(key), 1, inner)
  if (values === undefined || values === null) return built([key], inner)
  const { [key]: _before, ...others } = values as Record<string, unknown>
  return inner === undefined ? others : { ...(values as object), [key]: inner }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isLong(value: unknown): boolean {
  return isRecord(value) || (Array.isArray(value) && value.length > 0)
}

function sliceOf(text: string, { start, end }: Span): string {
  return text.slice(start, end)
}

function replace(text: string, { start, end }: Span, by: string): string {
  return `${text.slice(0, start)}${by}${text.slice(end)}`
}
