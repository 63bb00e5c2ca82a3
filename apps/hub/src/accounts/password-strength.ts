/**
 * Whether a password is easy to guess. Pure. It asks for no kinds of characters: it refuses what is tried first, that
 * is common words in any dress, patterns of the keyboard, and what is known of the person.
 */
import { COMMON_WORDS } from './common-words.ts'

const OWN_NAME = 'This password holds your own name or email address. Choose another.'
const COMMON = 'This password is one of those that are tried first. Choose another.'
const PATTERN = 'This password is a simple pattern. Choose another.'

/** Shorter names are in too many good passwords by chance. */
const NAME_MIN_LENGTH = 3
/** What must be left of a password without its runs, such as 1234, qwertz or aaaa. */
const RESIDUE_MIN_LENGTH = 4
const RUN_MIN_LENGTH = 3
const DISTINCT_MIN = 4

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
]
const NEIGHBOURS: ReadonlySet<string> = new Set(
  ROWS.flatMap((row) => Array.from(row).flatMap((key, i) => (i === 0 ? [] : [row[i - 1]! + key, key + row[i - 1]!]))),
)
const LEET: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '€': 'e',
  '|': 'l',
}

/**
 * The sentence that refuses the password, or undefined for one that is fine. `names`: all that the person is called.
 */
export function findWeakness(password: string, names: readonly string[]): string | undefined {
  const plain = fold(password)
  const own = names.flatMap(partsOf).filter((name) => name.length >= NAME_MIN_LENGTH)
  if (own.some((name) => plain.includes(name) || unleet(plain).includes(name))) return OWN_NAME
  if (coresOf(plain).some(isCommon)) return COMMON
  if (new Set(plain).size < DISTINCT_MIN || withoutRuns(plain).length < RESIDUE_MIN_LENGTH) return PATTERN
  return undefined
}

function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

function unleet(text: string): string {
  return Array.from(text, (letter) => LEET[letter] ?? letter).join('')
}

/** A name, and the part of an email address before its @. */
function partsOf(name: string): string[] {
  const whole = fold(name.trim())
  return whole.includes('@') ? [whole, whole.slice(0, whole.indexOf('@'))] : [whole]
}

/** What is left without what people put in front of, behind and between letters, and with digits read as letters. */
function coresOf(text: string): string[] {
  const lastLetter = [...text.matchAll(/\p{L}/gu)].at(-1)
  const unended = lastLetter ? text.slice(0, lastLetter.index + lastLetter[0].length) : ''
  const inner = unended.replace(/^[^\p{L}]+/u, '')
  return [text, unended, inner].flatMap((part) => [part, unleet(part)]).map((part) => part.replaceAll(/[^\p{L}]/gu, ''))
}

/** One common word, once or again and again, or two in a row. */
function isCommon(core: string): boolean {
  if (core === '') return false
  if (COMMON_WORDS.has(core)) return true
  for (let i = 3; i <= core.length - 3; i++) {
    if (COMMON_WORDS.has(core.slice(0, i)) && COMMON_WORDS.has(core.slice(i)) && core.length <= 14) return true
  }
  for (let length = 3; length <= core.length / 2; length++) {
    const unit = core.slice(0, length)
    if (COMMON_WORDS.has(unit) && unit.repeat(core.length / length) === core) return true
  }
  return false
}

function withoutRuns(text: string): string {
  let rest = ''
  for (let start = 0; start < text.length;) {
    let end = start + 1
    while (end < text.length && (text[end] === text[end - 1] || NEIGHBOURS.has(text[end - 1]! + text[end]!))) end++
    if (end - start < RUN_MIN_LENGTH) rest += text.slice(start, end)
    start = end
  }
  return rest
}
