/** What header fields are made of, RFC 9110 §5. */
import { rememberedByName } from './forwarding.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Horizontal tab, space, visible ASCII, obs-text: as Latin-1, which is how Node reads and writes them. */
const FIELD_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/

export const isToken = rememberedByName((name) => TOKEN.test(name))
export const isFieldText = (text: string): boolean => FIELD_TEXT.test(text)

/** A part of `text` without the spaces and tabs around it, and nothing else that `trim` would take. */
export function trimmed(text: string, start: number, end: number): string {
  let [first, last] = [start, end]
  while (first < last && isBlank(text.charCodeAt(first))) first++
  while (last > first && isBlank(text.charCodeAt(last - 1))) last--
  return text.slice(first, last)
}

/** The lines of a checked raw header list. */
export function fieldLines(raw: readonly string[]): string {
  const lines: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) lines.push(`${raw[i]}: ${raw[i + 1]}\r\n`)
  // `join` makes one flat string. A remembered string made with `+` would be flattened again at each write.
  return lines.join('')
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
