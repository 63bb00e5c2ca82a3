/**
 * The width of prose: paragraphs and lists of Markdown, and comments of TypeScript, end at column 120 as the code does.
 * Tables, code blocks, headings and strings stay as they are.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const WIDTH = 120

/** `first` and `rest` are the prefixes of the paragraph's first line and of its other lines. */
type Paragraph = { start: number; end: number; first: string; rest: string; words: string[] }

/** The files of the repository, including new ones, that hold such prose. */
export function proseFiles(): string[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md', '*.ts', '*.tsx']
  const listed = execFileSync('git', options, { encoding: 'utf8' })
  return listed.split('\n').filter((file) => file !== '' && existsSync(file))
}

/** The numbers, from 1, of the lines of prose in `file` that are too long and could be broken. */
export function findLongLines(file: string, text: string): number[] {
  const lines = text.split('\n')
  return paragraphsOf(file, lines).flatMap(({ start, end, rest }) =>
    Array.from({ length: end - start }, (_, i) => start + i)
      .filter((at) => lines[at]!.length > WIDTH && lines[at]!.slice(rest.length).trim().includes(' '))
      .map((at) => at + 1),
  )
}

/** The text with each paragraph that has a long line wrapped again; the others keep their line breaks. */
export function wrapLongLines(file: string, text: string): string {
  const lines = text.split('\n')
  for (const paragraph of paragraphsOf(file, lines).toReversed()) {
    const { start, end } = paragraph
    if (lines.slice(start, end).some((line) => line.length > WIDTH))
      lines.splice(start, end - start, ...wrap(paragraph))
  }
  return lines.join('\n')
}

function wrap({ first, rest, words }: Paragraph): string[] {
  const isOneLineComment = /^\s*\/\*\*? $/.test(first)
  const opening = isOneLineComment ? [first.trimEnd()] : []
  const wrapped: string[] = []
  let line = isOneLineComment ? rest : first
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && `${line} ${word}`.length > WIDTH && !startsBlock(word)) {
      wrapped.push(line)
      line = rest + word
    } else line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...opening, ...wrapped, line, ...(isOneLineComment ? [`${rest.trimEnd()}/`] : [])]
}

/** At the start of a line these would be a list, a heading, a quotation or the end of the comment. */
function startsBlock(word: string): boolean {
  return /^(?:[-+*>=|]|#+|\d+[.)]|@.*|\*\/.*)$/.test(word)
}

/** A code span stays on one line, whatever it holds. */
function wordsOf(text: string): string[] {
  return text.match(/(?:`[^`]*`|[^\s`]|`)+/g) ?? []
}

function paragraphsOf(file: string, lines: readonly string[]): Paragraph[] {
  return file.endsWith('.md') ? markdownParagraphs(lines) : commentParagraphs(lines)
}

function markdownParagraphs(lines: readonly string[]): Paragraph[] {
  const found: Paragraph[] = []
  let isCode = false
  let current: { start: number; first: string; rest: string; texts: string[] } | undefined
  const close = (end: number) => {
    if (current) found.push({ ...current, end, words: wordsOf(current.texts.join(' ')) })
    current = undefined
  }
  for (const [at, line] of lines.entries()) {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    const item = /^(\s*(?:[-+*]|\d{1,2}[.)]) +)(\S.*)$/.exec(line)
    const isProse = /^\s*[^\s|#<>@]/.test(line) || /^\s*<(?:https?:|a\b)/.test(line)
    if (isFence || isCode || !isProse) close(at)
    else if (item) {
      close(at)
      current = { start: at, first: item[1]!, rest: ' '.repeat(item[1]!.length), texts: [item[2]!] }
    } else if (current) current.texts.push(line.trim())
    else if (!/^ {4}/.test(line)) {
      const indent = /^\s*/.exec(line)![0]
      current = { start: at, first: indent, rest: indent, texts: [line.trim()] }
    }
    // Two spaces or a backslash at the end of a line are an intended break.
    if (/(?: {2}|\\)$/.test(line)) close(at + 1)
  }
  close(lines.length)
  return found
}

const ONE_LINE = /^(\s*)(\/\*\*? )(\S.*) \*\/$/
const SLASHES = /^(\s*\/\/ )\S/
const STARRED = /^(\s*\* )/

/** The text of a comment is read as Markdown, after the prefix of its lines. */
function commentParagraphs(lines: readonly string[]): Paragraph[] {
  const found: Paragraph[] = []
  let isBlock = false
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!
    const [, indent = '', opening = '', text] = ONE_LINE.exec(line) ?? []
    const [, prefix] = (isBlock ? STARRED : SLASHES).exec(line) ?? []
    let end = at + 1
    if (text !== undefined)
      found.push({ start: at, end, first: indent + opening, rest: `${indent} * `, words: wordsOf(text) })
    else if (prefix !== undefined) {
      const length = lines.slice(at).findIndex((below) => !below.startsWith(prefix))
      end = length === -1 ? lines.length : at + length
      const inner = lines.slice(at, end).map((whole) => whole.slice(prefix.length))
      for (const part of markdownParagraphs(inner))
        found.push({
          ...part,
          start: part.start + at,
          end: part.end + at,
          first: prefix + part.first,
          rest: prefix + part.rest,
        })
    } else isBlock = /^\s*\/\*/.test(line) || (isBlock && line.trim().startsWith('*'))
    if (lines[end - 1]!.includes('*/')) isBlock = false
    at = end
  }
  return found
}
