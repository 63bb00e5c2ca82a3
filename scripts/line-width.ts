const WIDTH = 120

/**
 * The numbers, from 1, of the lines of Markdown and of comments that go beyond column 120 and could be broken. Tables,
 * headings, code and its strings may be longer.
 */
export function findLongLines(file: string, text: string): number[] {
  const isPage = file.endsWith('.md')
  let isFenced = false
  const found: number[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const prefix = isPage ? '' : /^\s*(?:\/\/|\/?\*+) ?/.exec(line)?.[0]
    const prose = prefix === undefined ? '' : line.slice(prefix.length)
    if (isPage && /^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced
    const stays = isFenced || line.length <= WIDTH || /^(?:[|#<>@]|\s{4}\s*[^-\s])/.test(prose)
    if (!stays && /\S\s/.test(prose.replace(/^\s*[-+*] /, '').trim())) found.push(at + 1)
  }
  return found
}
