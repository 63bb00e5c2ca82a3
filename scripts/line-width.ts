const WIDTH = 120

/** Data, pictures and what a program writes: nobody reads them line by line. */
const UNREAD =
  /\.(?:json|jsonl|svg)$|^docs\/(?:api|operations\/gateway-yaml)\.md$|^packages\/vision\/src\/demonstration\/weights\.ts$/

/** A row of a table, also in a comment, and of several columns in a text. */
const isTable = (line: string) => /^[\s/*]*\|/.test(line) || line.split(' | ').length > 3
/** A regular expression on a line of its own. */
const REGULAR_EXPRESSION = /^\s*\/[^/*].*\/[a-z]*[,)]*$/
/** An address, a key or an encoded picture. */
const LONG_WORD = /\S{80}/

/**
 * The numbers, from 1, of the lines that go beyond column 120 and could be broken. Tables, regular expressions, JSON
 * and words of more than 80 characters may be longer.
 */
export function findLongLines(file: string, text: string): number[] {
  if (UNREAD.test(file)) return []
  let isJson = false
  const found: number[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const fence = file.endsWith('.md') && /^\s*```(\w*)/.exec(line)
    if (fence) isJson = fence[1] === 'json'
    const stays = isJson || isTable(line) || REGULAR_EXPRESSION.test(line) || LONG_WORD.test(line)
    if (!stays && Array.from(line).length > WIDTH) found.push(at + 1)
  }
  return found
}
