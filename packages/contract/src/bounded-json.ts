/**
 * JSON from untrusted senders. `JSON.parse` takes seconds and gigabytes for a few MiB of `[{},{},…]`, so one pass
 * counts values and nesting first, about as fast as a copy of the bytes, and only text within the limits is parsed. The
 * hub reads requests with it, the gateway reads answers.
 */

/** No message of the contract is as deep. */
export const JSON_DEPTH_MAX = 16
/** Numbers, texts, names, lists and all other values: 500 detections with every field have fewer. */
export const JSON_VALUES_MAX = 16_384
/** In characters. No field name of the contract is as long. */
export const JSON_NAME_MAX = 256
/** The longest run of characters without a mark outside of texts, such as digits and white space. */
export const JSON_GAP_MAX = 4_096

export type JsonProblem =
  | 'malformed'
  /** Nested too deep, too many values, or too long a name or number. */
  | 'too-complex'
  /** One object has a name twice, or a name that JavaScript reserves for prototypes. */
  | 'ambiguous'

export type ReadJson = { value: unknown; problem?: undefined } | { problem: JsonProblem }

/** `bytes` are UTF-8; the caller has bounded their length. Never throws. */
export function readJson(bytes: Uint8Array, valuesMax?: number): ReadJson {
  const text = decodeJson(bytes)
  if (text === undefined) return { problem: 'malformed' }
  const problem = findJsonProblem(text, valuesMax)
  return problem ? { problem } : parseCheckedJson(text)
}

/** Undefined for bytes that are not UTF-8. */
export function decodeJson(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Parses a text that passed `findJsonProblem`. */
export function parseCheckedJson(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: 'malformed' }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })
const PROTOTYPES = new Set(['__proto__', 'constructor'])

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** For each ASCII character: 1 where the scan below stops. */
const IS_MARK = new Uint8Array(128)
for (const mark of [QUOTE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) IS_MARK[mark] = 1

/** Finds input that must not reach the parser. Malformed JSON is left to the parser. */
export function findJsonProblem(text: string, valuesMax = JSON_VALUES_MAX): JsonProblem | undefined {
  /** For each open bracket: an object's names so far, or undefined for a list. */
  const open: (Set<string> | undefined)[] = []
  let values = 1
  let textStart = 0
  let textEnd = -1
  let gapStart = 0
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (IS_MARK[character] !== 1) continue
    if (i - gapStart > JSON_GAP_MAX) return 'too-complex'
    switch (character) {
      case QUOTE:
        textStart = i + 1
        i = endOfText(text, textStart)
        textEnd = i
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (open.length === JSON_DEPTH_MAX) return 'too-complex'
        open.push(character === OPEN_OBJECT ? new Set() : undefined)
        if (++values > valuesMax) return 'too-complex'
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open.pop()
        break
      case COMMA:
        if (++values > valuesMax) return 'too-complex'
        break
      case COLON: {
        if (++values > valuesMax || textEnd - textStart > JSON_NAME_MAX) return 'too-complex'
        const names = open.at(-1)
        const name = nameOf(text.slice(textStart, Math.max(textStart, textEnd)))
        if (name === undefined) return 'malformed'
        if (PROTOTYPES.has(name) || names?.has(name)) return 'ambiguous'
        names?.add(name)
      }
    }
    gapStart = i
  }
  return text.length - gapStart > JSON_GAP_MAX ? 'too-complex' : undefined
}

/** The index of the closing quote, or the length of `text` without one. */
function endOfText(text: string, start: number): number {
  let i = start
  for (; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === QUOTE) return i
    if (character === BACKSLASH) i++
  }
  return i
}

/** A name as the parser reads it, so that escapes don't hide a duplicate. */
function nameOf(written: string): string | undefined {
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return undefined
  }
}
