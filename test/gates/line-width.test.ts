import { describe, expect, it } from 'vitest'
import { findLongLines } from '../../scripts/line-width.ts'

const WORDS = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ')

describe('a line beyond column 120', () => {
  it.each([
    ['a paragraph', 'page.md', `# Title\n\nShort start\n${WORDS}\nshort end\n`],
    ['an item of a list', 'page.md', `- one\n- ${WORDS}\n  and its second line\n- three\n`],
    ['a comment of one line', 'code.ts', `  /** ${WORDS} */\n  const a = 1\n`],
    ['a comment of several lines', 'code.ts', `/**\n * Start.\n * ${WORDS}\n *\n * End.\n */\n`],
    ['an item in a comment', 'code.tsx', `/**\n * - ${WORDS}\n *   and more\n * - two\n */\n`],
    ['a comment behind slashes', 'code.ts', `  // ${WORDS}\n  call()\n`],
  ])('of %s is found', (_case, file, text) => {
    expect(findLongLines(file, text)).toHaveLength(1)
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
  })
})
