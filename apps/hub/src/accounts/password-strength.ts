/**
 * Whether a password is easy to guess. It requires no kinds of characters: it refuses the person's own data, and
 * passwords with a word or a pattern that few guesses would find.
 */
import type { GuessEstimates } from './guess-estimates.ts'

const OWN_NAME = 'This password holds your own name or email address. Choose another.'
const COMMON = 'Too easy to guess: this password is one of those that are tried first. Choose another.'
const PATTERN = 'Too easy to guess: this password is a simple pattern. Choose another.'

/** Shorter names appear in too many good passwords by chance. */
const NAME_MIN_LENGTH = 3
/** Eight random characters count as 10^8 guesses; a password with a word or a pattern must be harder than that. */
const GUESSES_MIN = 1e9

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

/** The sentence that refuses the password; undefined for a good one. `names`: all names of the person. */
export async function findWeakness(
  password: string,
  names: readonly string[],
  estimate: GuessEstimates,
): Promise<string | undefined> {
  const plain = fold(password)
  const own = names.flatMap(partsOf).filter((name) => name.length >= NAME_MIN_LENGTH)
  if (own.some((name) => plain.includes(name) || unleet(plain).includes(name))) return OWN_NAME
  const whole = password.normalize('NFKC')
  for (const part of new Set([whole, withoutEnds(whole)])) {
    const { guesses, holds } = await estimate({ password: part, names: own })
    if (holds !== undefined && guesses < GUESSES_MIN) return holds === 'words' ? COMMON : PATTERN
  }
  return undefined
}

/** Trims signs before the first and after the last letter or digit: they make a word no stronger. */
function withoutEnds(text: string): string {
  const inside = [...text.matchAll(/[\p{L}\p{N}]/gu)]
  const [first, last] = [inside[0], inside.at(-1)]
  return first && last ? text.slice(first.index, last.index + last[0].length) : text
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
