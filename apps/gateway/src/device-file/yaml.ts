/** YAML 1.2 within bounds: no text, however it is made, takes more than a moment or much memory. */
import {
  Composer,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  visit,
  type Document,
  type ErrorCode,
  type Node,
  type YAMLMap,
} from 'yaml'

/** `line` and `column` count from 1. */
export type Place = { line: number; column: number }
/** The message begins with the path, if there is one. */
export type FileError = Place & { message: string; path?: (string | number)[] }
export type Yaml = { document: Document; placeOf(offset: number): Place }

/** 64 cameras with ten zones each take a third of this. */
const CHARACTERS_MAX = 256 * 1024
const TOKENS_MAX = 60_000
const DEPTH_MAX = 30
/** Each alias is looked up from the beginning of the file, and stands for all that its anchor holds. */
const ALIASES_MAX = 50
const ERRORS_MAX = 20

/** `!file PATH` is replaced by the content of a file. */
const fileTags = [{ tag: '!file', resolve: (path: string) => path }]

/**
 * Reads a text whose keys are all plain and all different. Never throws. The bounds hold while the text is taken apart,
 * before any value is made of it.
 */
export function readYaml(text: string): { yaml: Yaml; errors?: undefined } | { yaml?: undefined; errors: FileError[] } {
  if (text.length > CHARACTERS_MAX)
    return { errors: [{ line: 1, column: 1, message: `The file is larger than ${CHARACTERS_MAX / 1024} KB.` }] }
  // Bytes that are no UTF-8 become U+FFFD; every second byte of plain UTF-16 is a zero.
  const foreign = text.search(/[\0\uFFFD]/)
  if (foreign >= 0) {
    const before = text.slice(0, foreign).split('\n')
    const place = { line: before.length, column: before.at(-1)!.length + 1 }
    return { errors: [{ ...place, message: 'This is not UTF-8. Save the file as UTF-8.' }] }
  }
  const lines = new LineCounter()
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  try {
    const document = compose(text, lines)
    const errors = [...faultsOf(document, text), ...valueFaults(document, placeOf)]
    if (errors.length === 0) return { yaml: { document, placeOf } }
    const ordered = errors.toSorted((a, b) => a.at - b.at)
    // One bracket too many makes all that follows unexpected.
    const first = ordered.find(({ message }) => message === WORDS.UNEXPECTED_TOKEN)
    const told = ordered.filter((fault) => fault === first || fault.message !== first?.message).slice(0, ERRORS_MAX)
    return { errors: told.map(({ at, message }) => ({ ...placeOf(at), message })) }
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    return { errors: [{ ...placeOf(error.at), message: error.message }] }
  }
}

/** The values of a document; undefined when its aliases stand for too much. */
export function plainOf(document: Document): { value: unknown } | undefined {
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown }
  } catch {
    return undefined
  }
}

/** The values of a document as they are written: `${NAME}` and `!file PATH` stay. No two parts of it are one object. */
export function writtenOf(document: Document): unknown {
  const valueOf = (node: unknown): unknown => {
    if (isAlias(node)) return valueOf(node.resolve(document))
    if (isSeq(node)) return node.items.map(valueOf)
    if (isMap(node)) return Object.fromEntries(node.items.map(({ key, value }) => [keyOf(key), valueOf(value)]))
    if (!isScalar(node)) return null
    return node.tag === '!file' ? `!file ${String(node.value)}` : node.value
  }
  return plainOf(document) && valueOf(document.contents)
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : ''
}

/** The node at a path, also behind aliases; undefined when the file does not have it. */
export function nodeAt(document: Document, path: readonly PropertyKey[]): Node | undefined {
  let node: unknown = document.contents
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) node = pairOf(node, key)?.value
    else node = isCollection(node) ? node.get(key, true) : undefined
  }
  if (isAlias(node)) node = node.resolve(document)
  return isNode(node) ? node : undefined
}

/** The key at the end of a path. */
export function keyAt(document: Document, path: readonly PropertyKey[]): Node | undefined {
  const map = nodeAt(document, path.slice(0, -1))
  const key = isMap(map) ? pairOf(map, path.at(-1)!)?.key : undefined
  return isNode(key) ? key : undefined
}

function pairOf(map: YAMLMap, key: PropertyKey) {
  return map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
}

class YamlFault extends Error {
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

type Fault = { at: number; message: string }

function compose(text: string, lines: LineCounter): Document {
  const composer = new Composer({
    customTags: fileTags,
    // Otherwise the library makes bytes, sets and dates, which no part of the file takes.
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  })
  const documents = composer.compose(tokensOf(text, lines), true, text.length)
  const first = documents.next().value!
  const second = documents.next().value
  if (second) throw new YamlFault(second.range[0], 'A second document begins here (`---`); the file is one document.')
  return first
}

function* tokensOf(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let tokens = 0
  let aliases = 0
  for (const token of new Lexer().lex(text)) {
    if (++tokens > TOKENS_MAX) throw new YamlFault(parser.offset, 'The file has too many values.')
    if (token.startsWith('*') && ++aliases > ALIASES_MAX)
      throw new YamlFault(parser.offset, 'The file uses too many aliases.')
    yield* parser.next(token)
    if (parser.stack.length > DEPTH_MAX) throw new YamlFault(parser.offset, 'The file is nested too deep.')
  }
  yield* parser.end()
}

function faultsOf({ errors, warnings }: Document, text: string): Fault[] {
  return [...errors, ...warnings].map(({ pos: [at], code, message }) => {
    const word = code === 'TAG_RESOLVE_FAILED' ? OTHER_TAGS.exec(text.slice(at, at + 20))?.[0] : undefined
    return { at, message: word ? `${word} is not known; there is only !file.` : inWords(code, message) }
  })
}

/** Tags that other files have. Any other word may be a password without its quotation marks, and is not shown. */
const OTHER_TAGS = /^!!(?:binary|merge|omap|pairs|set|timestamp)(?![^\s,[\]{}])/

/** Keys are written out: no key comes from a file, from a variable or from another group. An alias has its anchor. */
function valueFaults(document: Document, placeOf: Yaml['placeOf']): Fault[] {
  const faults: Fault[] = []
  visit(document, {
    Alias(_key, node) {
      const isKnown = node.resolve(document) !== undefined
      if (!isKnown) faults.push({ at: node.range?.[0] ?? 0, message: WORDS.BAD_ALIAS! })
    },
    Map(_key, { items }) {
      const seen = new Map<string, number>()
      for (const { key } of items) {
        const at = isNode(key) ? (key.range?.[0] ?? 0) : 0
        const message = keyFault(key)
        const name = isScalar(key) ? String(key.value) : ''
        const first = seen.get(name)
        if (message !== undefined) faults.push({ at, message })
        else if (first === undefined) seen.set(name, at)
        else faults.push({ at, message: `This key is there twice: line ${placeOf(first).line} has it too.` })
        if (faults.length > ERRORS_MAX) return visit.BREAK
      }
      return undefined
    },
  })
  return faults
}

const UNUSUAL_SPACE = /[\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF]/

function keyFault(key: unknown): string | undefined {
  if (!isScalar(key)) return 'A key must be text.'
  if (key.value === '<<') return 'YAML 1.2 has no `<<`: write the keys out, or use `*name` for the whole group.'
  if (key.tag === '!file') return 'A key cannot come from a file.'
  const name = String(key.value)
  if (name.includes('${')) return 'A key cannot come from a variable.'
  const space = UNUSUAL_SPACE.exec(name)?.[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return space === undefined ? undefined : `This key has an unusual space (U+${space}). Write a usual one.`
}

/** The library's sentences are for programmers, and some repeat parts of the file, which may be secrets. */
function inWords(code: ErrorCode, message: string): string {
  if (code === 'MISSING_CHAR' || code === 'BAD_INDENT')
    for (const [part, words] of MISSING) if (message.includes(part)) return words
  return WORDS[code] ?? 'This is not YAML.'
}

const MISSING = [
  ['quote', 'The closing quotation mark is missing.'],
  ['end with a }', 'The closing } is missing.'],
  ['end with a ]', 'The closing ] is missing.'],
  ['Implicit map keys', 'A colon and a space are missing after this key.'],
  ['Comments', 'A comment needs a space before its #.'],
  ['Missing space', 'A space is missing after the colon.'],
  ['Missing ,', 'A comma or a colon is missing before this.'],
] as const

const WORDS: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'There is no anchor of this name before this alias.',
  BAD_DIRECTIVE: 'A line that begins with % is not known here.',
  BAD_DQ_ESCAPE: 'After a backslash in quotation marks this is not known. Write the backslash twice.',
  BAD_INDENT: 'The lines of one group must begin in the same column.',
  BAD_SCALAR_START: 'A text that begins with this sign needs quotation marks.',
  BLOCK_AS_IMPLICIT_KEY: 'A text with a colon and a space in it needs quotation marks.',
  BLOCK_IN_FLOW: 'Between brackets, lists and groups need brackets too.',
  MULTILINE_IMPLICIT_KEY: 'A key is on one line. Is a colon missing above?',
  TAB_AS_INDENT: 'This line begins with a tab. Write spaces.',
  TAG_RESOLVE_FAILED: 'This ! word is not known; there is only !file.',
  UNEXPECTED_TOKEN: 'This is not expected here. Is a bracket or a quotation mark missing before it?',
}
