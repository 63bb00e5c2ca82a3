import { describe, expect, it } from 'vitest'
import { findLongLines } from '../../scripts/line-width.ts'

const WORDS = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ')
const LETTERS = 'ö'.repeat(59)

describe('a line beyond column 120', () => {
  it.each([
    ['a paragraph', 'page.md', `# Title\n\nShort start\n${WORDS}\nshort end\n`],
    ['a heading', 'page.md', `# ${WORDS}\n`],
    ['an item of a list', 'page.md', `- one\n- ${WORDS}\n  and its second line\n- three\n`],
    ['a fenced block', 'page.md', `\`\`\`sh\n${WORDS}\n\`\`\`\n`],
    ['an indented block', 'page.md', `Run\n\n    ${WORDS}\n`],
    ['a comment of one line', 'code.ts', `  /** ${WORDS} */\n  const a = 1\n`],
    ['a comment of several lines', 'code.ts', `/**\n * Start.\n * ${WORDS}\n *\n * End.\n */\n`],
    ['a comment behind slashes', 'code.ts', `  // ${WORDS}\n  call()\n`],
    ['a string', 'code.ts', `const a = '${WORDS}'\n`],
    ['a style', 'page.css', `a { font: ${WORDS} }\n`],
    ['a workflow', 'check.yaml', `run: ${WORDS}\n`],
    ['a shell script', 'deploy/debian/hedgerow-hub/update', `echo ${WORDS}\n`],
    ['one character too many', 'page.md', `${LETTERS} ${LETTERS} b\n`],
  ])('of %s is found', (_case, file, text) => {
    expect(findLongLines(file, text)).toHaveLength(1)
  })

  it.each([
    ['a row of a table', 'page.md', `| ${WORDS} |\n`],
    ['a long address', 'page.md', `See https://example.org/${'a'.repeat(120)}\n`],
    ['a regular expression', 'code.ts', `  /^${WORDS}$/m,\n`],
    ['a comment’s table', 'code.ts', `/**\n * | ${WORDS} |\n */\n`],
    ['a program’s page', 'docs/api.md', `${WORDS}\n`],
    ['a picture', 'icon.svg', `<path d="${WORDS}"/>\n`],
    ['JSON', 'page.md', `\`\`\`json\n"${WORDS}"\n\`\`\`\n`],
    ['letters of two bytes within it', 'page.md', `${LETTERS} ${LETTERS}b\n`],
  ])('of %s is left alone', (_case, file, text) => {
    expect(findLongLines(file, text)).toEqual([])
  })
})
