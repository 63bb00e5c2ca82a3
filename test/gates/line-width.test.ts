import { describe, expect, it } from 'vitest'
import { findLongLines, wrapLongLines } from '../../scripts/line-width.ts'

const WORDS = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ')
const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))
const wordsOf = (text: string) => text.match(/\w+/g)

describe('a line beyond column 120', () => {
  it.each([
    ['a paragraph', 'page.md', `# Title\n\nShort start\n${WORDS}\nshort end\n`],
    ['an item of a list', 'page.md', `- one\n- ${WORDS}\n  and its second line\n- three\n`],
    ['a comment of one line', 'code.ts', `  /** ${WORDS} */\n  const a = 1\n`],
    ['a comment of several lines', 'code.ts', `/**\n * Start.\n * ${WORDS}\n *\n * End.\n */\n`],
    ['an item in a comment', 'code.tsx', `/**\n * - ${WORDS}\n *   and more\n * - two\n */\n`],
    ['a comment behind slashes', 'code.ts', `  // ${WORDS}\n  call()\n`],
  ])('of %s is found, and wrapped without losing a word', (_case, file, text) => {
    expect(findLongLines(file, text)).toHaveLength(1)
    const wrapped = wrapLongLines(file, text)
    expect(findLongLines(file, wrapped)).toEqual([])
    expect(widest(wrapped)).toBeLessThanOrEqual(120)
    expect(wordsOf(wrapped)).toEqual(wordsOf(text))
    expect(wrapLongLines(file, wrapped)).toBe(wrapped)
  })

  it.each([
    ['a row of a table', 'page.md', `| ${WORDS} |\n`],
    ['a heading', 'page.md', `# ${WORDS}\n`],
    ['a fenced block', 'page.md', `\`\`\`\n${WORDS}\n\`\`\`\n`],
    ['an indented block', 'page.md', `Run\n\n    ${WORDS}\n`],
    ['a long address', 'page.md', `https://example.org/${'a'.repeat(120)}\n`],
    ['a string', 'code.ts', `const a = '${WORDS}'\n`],
    ['a comment’s table', 'code.ts', `/**\n * | ${WORDS} |\n */\n`],
  ])('of %s is left alone', (_case, file, text) => {
    expect(findLongLines(file, text)).toEqual([])
    expect(wrapLongLines(file, text)).toBe(text)
  })

  it('is wrapped alone: paragraphs beside it keep their breaks', () => {
    expect(wrapLongLines('page.md', `kept\nas it is\n\n${WORDS}\n`)).toMatch(/^kept\nas it is\n\nword0 /)
  })

  it('never starts a line with a word that would make it a list, a heading or the end of the comment', () => {
    const text = `${'a'.repeat(117)} - 1. # ${'b'.repeat(100)}\n`
    expect(wrapLongLines('page.md', text)).toBe(`${'a'.repeat(117)} - 1. #\n${'b'.repeat(100)}\n`)
  })

  it('keeps a code span on one line', () => {
    const span = '`npm run hub -- backup FILE`'
    expect(wrapLongLines('page.md', `${'a'.repeat(110)} ${span} ${WORDS}\n`)).toContain(`\n${span} word0`)
  })
})
