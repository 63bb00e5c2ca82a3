/**
 * Changes single values of a YAML text in place, so that everything else keeps its bytes: comments, quotes, blank
 * lines. Other changes are made on the parsed document, which keeps comments but may change spaces.
 */
import { isDeepStrictEqual } from 'node:util'
import { isAlias, isMap, isSeq, stringify, type Document, type YAMLMap, type YAMLSeq } from 'yaml'
import { documentOf, readYaml } from './yaml.ts'

export type Path = readonly [string, ...string[]]
type Collection = YAMLMap | YAMLSeq
type Span = { start: number; end: number }

/** This part of the text is an alias, or not a group of keys: people have to edit it. */
export class NotEditable extends Error {
  override name = 'NotEditable'
}

/** Sets the value of a key; groups that are missing are added. Throws NotEditable. */
export function setIn(text: string, path: Path, value: unknown): string {
  return changed(text, {
    splice: (document) => spliceSet(text, document, path, value),
    onDocument: (document) => document.setIn(path, document.createNode(value, { flow: true })),
  })
}

/** Deletes a key, or the item with this number of a list. Throws NotEditable. */
export function deleteIn(text: string, path: Path, item?: number): string {
  return changed(text, {
    splice(document) {
      const parent = document.getIn(item === undefined ? path.slice(0, -1) : path, true)
      if (!isMap(parent) && !isSeq(parent)) return undefined
      const index = isMap(parent) ? indexOfKey(parent, path.at(-1)!) : item!
      return spliceDelete(text, parent, index)
    },
    onDocument: (document) => document.deleteIn(item === undefined ? path : [...path, item]),
  })
}

/** Adds an item to the end of a list, or to a new list. Throws NotEditable. */
export function append(text: string, path: Path, value: unknown): string {
  const list = documentOf(text).getIn(path, true)
  if (!isSeq(list) || list.items.length === 0) return setIn(text, path, [value])
  return changed(text, {
    splice: () => spliceAdd(text, list, inFlow(value)),
    onDocument: (document) => document.addIn(path, document.createNode(value, { flow: true })),
  })
}

type Change = {
  /** Undefined when the text cannot be changed in place. */
  splice(document: Document): string | undefined
  onDocument(document: Document): void
}

/** Uses the spliced text only if it parses to the same values as the changed document. */
function changed(text: string, { splice, onDocument }: Change): string {
  const document = documentOf(text)
  const spliced = splice(document)
  try {
    onDocument(document)
  } catch {
    throw new NotEditable()
  }
  const wanted = document.toJS() as unknown
  if (spliced !== undefined) {
    const result = readYaml(spliced)
    if (result.yaml && isDeepStrictEqual(result.yaml.document.toJS(), wanted)) return withLineEndsOf(text, spliced)
  }
  return withLineEndsOf(text, document.toString({ lineWidth: 0 }))
}

/** A file of Windows stays one: editors show a single other line end as a broken line. */
function withLineEndsOf(text: string, edited: string): string {
  const isWindows = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  return isWindows ? edited.replaceAll(/\r?\n/g, '\r\n') : edited
}

function spliceSet(text: string, document: Document, path: Path, value: unknown): string | undefined {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true)
    if (node === undefined || node === null) continue
    if (isAlias(node)) return undefined
    const rest = path.slice(depth)
    if (rest.length === 0) return replace(text, spanOf(text, node as Collection), inFlow(value))
    if (!isMap(node)) return undefined
    return spliceAdd(text, node, node.flow ? pairInFlow(rest, value) : pairInBlock(rest, value, indentOf(text, node)))
  }
  return text.trim() === '' ? `${text}${pairInBlock(path, value, 0)}\n` : undefined
}

/** Adds an entry after the last one of a collection. */
function spliceAdd(text: string, parent: Collection, entry: string): string | undefined {
  const last = parent.items.length === 0 ? undefined : spanOfItem(text, parent, parent.items.length - 1)
  if (parent.flow) {
    if (last) return replace(text, { start: last.end, end: last.end }, `, ${entry}`)
    return replace(text, spanOf(text, parent), isSeq(parent) ? `[${entry}]` : `{ ${entry} }`)
  }
  if (!last) return undefined
  const lineEnd = text.indexOf('\n', last.end)
  const at = lineEnd < 0 ? text.length : lineEnd
  const line = `${' '.repeat(indentOf(text, parent))}${isSeq(parent) ? '- ' : ''}${entry}`
  return replace(text, { start: at, end: at }, `\n${line}`)
}

function spliceDelete(text: string, parent: Collection, index: number): string | undefined {
  if (index < 0 || index >= parent.items.length) return undefined
  const span = spanOfItem(text, parent, index)
  if (!span) return undefined
  if (parent.items.length === 1) {
    const nothing = isSeq(parent) ? '[]' : '{}'
    return parent.flow ? replace(text, spanOf(text, parent), nothing) : spliceLast(text, span, nothing)
  }
  if (parent.flow) {
    const [before, after] = [spanOfItem(text, parent, index - 1), spanOfItem(text, parent, index + 1)]
    return replace(text, after ? { start: span.start, end: after.start } : { start: before!.end, end: span.end }, '')
  }
  const lineEnd = text.indexOf('\n', span.end)
  const start = text.lastIndexOf('\n', span.start - 1) + 1
  return replace(text, { start, end: lineEnd < 0 ? text.length : lineEnd + 1 }, '')
}

/** Deletes the only item of a block, on lines of its own: `nothing` comes behind the key, and all comments stay. */
function spliceLast(text: string, { start, end }: Span, nothing: string): string | undefined {
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
  return `${text.slice(0, key)} ${nothing}${text.slice(key, lineStart)}${below}${text.slice(end + after.length)}`
}

function indexOfKey(map: YAMLMap, key: string): number {
  return map.items.findIndex((pair) => keyOf(pair.key) === key)
}

function keyOf(key: unknown): unknown {
  return typeof key === 'object' && key !== null && 'value' in key ? key.value : key
}

/** The node from its first character to its last, without the comment after it. */
function spanOf(text: string, node: { range?: readonly [number, number, number] | null | undefined }): Span {
  const [start = 0, end = 0] = node.range ?? []
  return { start, end: start + text.slice(start, end).trimEnd().length }
}

function spanOfItem(text: string, parent: Collection, index: number): Span | undefined {
  const item = parent.items[index]
  if (item === undefined) return undefined
  if (isSeq(parent)) {
    const { start, end } = spanOf(text, item as Collection)
    return { start: parent.flow ? start : text.lastIndexOf('-', start), end }
  }
  const pair = item as YAMLMap['items'][number]
  const key = spanOf(text, pair.key as Collection)
  const value = pair.value === null ? key : spanOf(text, pair.value as Collection)
  return { start: key.start, end: Math.max(key.end, value.end) }
}

/** The column of a block collection's entries. */
function indentOf(text: string, parent: Collection): number {
  const first = spanOfItem(text, parent, 0)
  return first ? first.start - (text.lastIndexOf('\n', first.start - 1) + 1) : 0
}

function pairInFlow([key = '', ...rest]: readonly string[], value: unknown): string {
  return `${plainKey(key)}: ${rest.length === 0 ? inFlow(value) : `{ ${pairInFlow(rest, value)} }`}`
}

function pairInBlock([key = '', ...rest]: readonly string[], value: unknown, indent: number): string {
  if (rest.length === 0) return `${plainKey(key)}: ${inFlow(value)}`
  return `${plainKey(key)}:\n${' '.repeat(indent + 2)}${pairInBlock(rest, value, indent + 2)}`
}

function plainKey(key: string): string {
  return stringify(key, { lineWidth: 0 }).trimEnd()
}

/** Texts are quoted, because an address has characters with another meaning in YAML. */
function inFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inFlow).join(', ')}]`
  // YAML has NaN and infinity, JSON does not.
  if (typeof value === 'number') return stringify(value).trimEnd()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, each]) => `${plainKey(key)}: ${inFlow(each)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

function replace(text: string, { start, end }: Span, by: string): string {
  return `${text.slice(0, start)}${by}${text.slice(end)}`
}
