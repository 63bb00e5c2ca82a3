/** A page of help as data: the build reads it from Markdown, and the screen shows nothing else, so no page has HTML. */
export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'emphasis'; content: Inline[] }
  /** A page of help (`/help/tls#a-heading`), or an address outside of the hub. */
  | { kind: 'link'; to: string; content: Inline[] }

export type Block =
  | { kind: 'heading'; level: number; id: string; content: Inline[] }
  | { kind: 'paragraph'; content: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'list'; ordered: boolean; items: Block[][] }
  /** Ways of which a reader takes one. */
  | { kind: 'choices'; choices: Choice[] }

export type Choice = { title: string; content: Block[] }

export type HelpPage = { name: string; title: string; blocks: Block[] }

/** The page that /help opens. */
export const FIRST_PAGE = 'README'

export const addressOf = (page: string, id?: string): string =>
  `/help${page === FIRST_PAGE ? '' : `/${page}`}${id === undefined || id === '' ? '' : `#${id}`}`

/** The text without its formatting. */
export function plainText(content: readonly (Inline | Block)[]): string {
  return content
    .map((part) => {
      switch (part.kind) {
        case 'text':
        case 'code':
          return part.text
        case 'table':
          return [part.head, ...part.rows].map((row) => row.map((cell) => plainText(cell)).join(' ')).join(' ')
        case 'list':
          return part.items.map((item) => plainText(item)).join(' ')
        case 'choices':
          return part.choices.map(({ title, content }) => `${title} ${plainText(content)}`).join(' ')
        default:
          return plainText(part.content)
      }
    })
    .join('')
}
