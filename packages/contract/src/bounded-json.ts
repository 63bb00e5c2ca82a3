/**
 * JSON from whoever sends it. `JSON.parse` takes seconds and gigabytes for a few MiB of `[{},{},…]`, so its bytes are
 * first counted in one pass, as long as a copy of them takes: only text with few values and little nesting is parsed.
 * The hub reads requests with it, the gateway reads answers.
 */

/** Deeper than any message of the contract. */
export const JSON_DEPTH_MAX = 16
/** Numbers, texts, names, lists and all else: more than 500 detections with every field have. */
export const JSON_VALUES_MAX = 16_384
/** In bytes. No field of the contract has a name as long. */
export const JSON_NAME_MAX = 256
/** How many bytes may follow each other outside of texts: a number's digits and white space. */
export const JSON_GAP_MAX = 4_096

export type JsonProblem =
  | 'malformed'
  /** Nested too deep, too many values, or too long a name or number. */
  | 'too-complex'
  /** One object has a name twice, or one that JavaScript keeps for prototypes. */
  | 'ambiguous'

export type ReadJson = { value: unknown; problem?: undefined } | { problem: JsonProblem }

/** `bytes` are UTF-8, already bounded in length by the caller. Never throws. */
export function readJson(bytes: Uint8Array): ReadJson {
  const problem = findJsonProblem(bytes)
  return problem ? { problem } : parseCheckedJson(bytes)
}

/** The second half of `readJson`, for bytes that `findJsonProblem` found none in. */
export function parseCheckedJson(bytes: Uint8Array): ReadJson {
  try {
    return { value: JSON.parse(decoder.decode(bytes)) as unknown }
  } catch {
    return { problem: 'malformed' }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })
const PROTOTYPES = new Set(['__proto__', 'constructor'])

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** By byte, 1 for what the count below stops at. */
const IS_MARK = new Uint8Array(256)
for (const mark of [QUOTE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) IS_MARK[mark] = 1

/** The first half of `readJson`: what must not reach the parser, which stops by itself at what is no JSON. */
export function findJsonProblem(bytes: Uint8Array): JsonProblem | undefined {
  /** Of each open bracket: the names so far of an object, undefined of a list. */
  const open: (Set<string> | undefined)[] = []
  let values = 1
  let textStart = 0
  let textEnd = -1
  let gapStart = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === undefined || IS_MARK[byte] === 0) continue
    if (i - gapStart > JSON_GAP_MAX) return 'too-complex'
    switch (byte) {
      case QUOTE:
        textStart = i + 1
        i = endOfText(bytes, textStart)
        textEnd = i
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (open.length === JSON_DEPTH_MAX) return 'too-complex'
        open.push(byte === OPEN_OBJECT ? new Set() : undefined)
        if (++values > JSON_VALUES_MAX) return 'too-complex'
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open.pop()
        break
      case COMMA:
        if (++values > JSON_VALUES_MAX) return 'too-complex'
        break
      case COLON: {
        if (++values > JSON_VALUES_MAX || textEnd - textStart > JSON_NAME_MAX) return 'too-complex'
        const names = open.at(-1)
        const name = nameOf(bytes.subarray(textStart, Math.max(textStart, textEnd)))
        if (name === undefined) return 'malformed'
        if (PROTOTYPES.has(name) || names?.has(name)) return 'ambiguous'
        names?.add(name)
      }
    }
    gapStart = i
  }
  return bytes.length - gapStart > JSON_GAP_MAX ? 'too-complex' : undefined
}

/** Where the closing quote is; the length of all where there is none. */
function endOfText(bytes: Uint8Array, start: number): number {
  let i = start
  while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1
  return i
}

/** A name as the parser will have it: two spellings of one are one. */
function nameOf(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes)
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
  } catch {
    return undefined
  }
}
