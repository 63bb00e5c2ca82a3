/** Vite plugin: `virtual:help-pages` has the documents of operation as data, for the portal's help. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { lexer, type Token, type Tokens } from 'marked'
import type { Plugin } from 'vite'
import {
  addressOf,
  FIRST_PAGE,
  plainText,
  type Block,
  type Choice,
  type HelpPage,
  type Inline,
} from '../src/features/help/text.ts'

const DOCS = join(import.meta.dirname, '../../../docs')
const ID = 'virtual:help-pages'

/** Paths below docs/ of the pages that the hub serves. */
const HELP_FILES: readonly string[] = [
  ...readdirSync(join(DOCS, 'operations'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `operations/${name}`),
  'api.md',
  'glossary.md',
  'security.md',
]

export const helpPages: Plugin = {
  name: 'help-pages',
  resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
  load(id) {
    if (id !== `\0${ID}`) return undefined
    return `export const pages = ${JSON.stringify(pages)}`
  },
}

/** `file` is a path below docs/. Throws for HTML, which no page of help may have. */
export function readPage(file: string, markdown: string): HelpPage {
  const [first, ...rest] = lexer(markdown)
  if (first?.type !== 'heading' || first['depth'] !== 1) throw new Error(`${file} does not begin with a title`)
  const reader = readerOf(file)
  return {
    name: nameOf(file),
    title: plainText(reader.inlines(first.tokens)),
    blocks: reader.blocks(rest),
  }
}

/** Finds broken links of the pages, and pages to which the first page does not link. */
export function findLooseEnds(pages: readonly HelpPage[]): string[] {
  const paths = new Set(
    pages.flatMap(({ name, blocks }) => [
      addressOf(name),
      ...blocks.flatMap((block) => (block.kind === 'heading' ? [addressOf(name, block.id)] : [])),
    ]),
  )
  const findings = pages.flatMap(({ name, blocks }) =>
    linksIn(blocks)
      .filter((to) => to.startsWith('/') && !paths.has(to))
      .map((to) => `the help's page ${name} leads to ${to}, which is not there`),
  )
  const named = new Set(
    linksIn(pages.find(({ name }) => name === FIRST_PAGE)?.blocks ?? []).map((to) => to.split('#')[0]),
  )
  const alone = pages.filter(({ name }) => name !== FIRST_PAGE && !named.has(addressOf(name)))
  return [...findings, ...alone.map(({ name }) => `docs/operations/README.md does not lead to ${name}`)]
}

export function linksIn(content: readonly (Block | Inline)[]): string[] {
  return content.flatMap((part): string[] => {
    switch (part.kind) {
      case 'text':
      case 'code':
        return []
      case 'table':
        return [part.head, ...part.rows].flat().flatMap(linksIn)
      case 'list':
        return part.items.flatMap(linksIn)
      case 'choices':
        return part.choices.flatMap(({ content: blocks }) => linksIn(blocks))
      case 'link':
        return [part.to, ...linksIn(part.content)]
      default:
        return linksIn(part.content)
    }
  })
}

/** A list in which a bold line begins every item, with more below it, is a choice; undefined for another list. */
function choicesOf(items: readonly Block[][]): Block | undefined {
  const choices = items.flatMap(([first, ...content]): Choice[] => {
    const [title, ...others] = first?.kind === 'paragraph' ? first.content : []
    if (title?.kind !== 'strong' || others.length > 0 || content.length === 0) return []
    return [{ title: plainText([title]), content }]
  })
  return items.length > 1 && choices.length === items.length ? { kind: 'choices', choices } : undefined
}

const nameOf = (file: string): string => basename(file, '.md')

function readerOf(file: string) {
  const ids = new Map<string, number>()

  /** The heading's id as GitHub makes it, so that links to headings work in both places. */
  function idOf(title: string): string {
    const id = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const count = ids.get(id) ?? 0
    ids.set(id, count + 1)
    return count === 0 ? id : `${id}-${count}`
  }

  function inlines(tokens: readonly Token[] = []): Inline[] {
    return tokens.flatMap((token): Inline[] => {
      switch (token.type) {
        case 'text':
        case 'escape':
          return 'tokens' in token && token.tokens ? inlines(token.tokens) : [{ kind: 'text', text: token.text }]
        case 'codespan':
          return [{ kind: 'code', text: token.text }]
        case 'strong':
          return [{ kind: 'strong', content: inlines(token.tokens) }]
        case 'em':
          return [{ kind: 'emphasis', content: inlines(token.tokens) }]
        case 'link': {
          const content = inlines(token.tokens)
          const to = targetOf(token.href)
          return to === undefined ? content : [{ kind: 'link', to, content }]
        }
        default:
          throw new Error(`${file}: the help cannot show ${token.type}: ${token.raw}`)
      }
    })
  }

  /** Undefined for files that only the sources have. */
  function targetOf(href: string): string | undefined {
    if (/^https?:/.test(href)) return href
    const [path = '', id] = href.split('#')
    if (path === '') return addressOf(nameOf(file), id)
    const target = posix.join(posix.dirname(file), path)
    return HELP_FILES.includes(target) ? addressOf(nameOf(target), id) : undefined
  }

  function blocks(tokens: readonly Token[]): Block[] {
    return tokens.flatMap((token): Block[] => {
      switch (token.type) {
        case 'space':
          return []
        case 'heading': {
          const content = inlines(token.tokens)
          return [{ kind: 'heading', level: token['depth'] as number, id: idOf(plainText(content)), content }]
        }
        case 'blockquote':
          return blocks(token.tokens ?? [])
        case 'paragraph':
        case 'text':
          return [{ kind: 'paragraph', content: inlines(token.tokens) }]
        case 'code':
          return [{ kind: 'code', text: (token as Tokens.Code).text.trimEnd() }]
        case 'list': {
          const { ordered, items } = token as Tokens.List
          const read = items.map((item) => blocks(item.tokens))
          return [choicesOf(read) ?? { kind: 'list', ordered, items: read }]
        }
        case 'table': {
          const { header, rows } = token as Tokens.Table
          const cells = (row: readonly Tokens.TableCell[]) => row.map((cell) => inlines(cell.tokens))
          return [{ kind: 'table', head: cells(header), rows: rows.map(cells) }]
        }
        default:
          if (token.type === 'html' && /^<!--[^]*-->\s*$/.test(token.raw)) return []
          throw new Error(`${file}: the help cannot show ${token.type}: ${token.raw}`)
      }
    })
  }
  return { inlines, blocks }
}

/** All pages by title, the first page before them. `paths` in tsconfig.json gives the virtual module this type. */
export const pages: readonly HelpPage[] = HELP_FILES.map((file) =>
  readPage(file, readFileSync(join(DOCS, file), 'utf8')),
).toSorted((a, b) => (a.name === FIRST_PAGE ? -1 : b.name === FIRST_PAGE ? 1 : a.title.localeCompare(b.title, 'en')))
