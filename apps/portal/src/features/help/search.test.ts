import { expect, it } from 'vitest'
import { search, sectionsOf } from './search.ts'
import type { Block, HelpPage } from './text.ts'

const text = (words: string) => [{ kind: 'text' as const, text: words }]
const heading = (id: string, words: string): Block => ({ kind: 'heading', level: 2, id, content: text(words) })
const paragraph = (words: string): Block => ({ kind: 'paragraph', content: text(words) })

const pages: HelpPage[] = [
  { name: 'tls', title: 'HTTPS', blocks: [paragraph('The hub makes a CA.'), heading('proxy', 'Behind a proxy')] },
  {
    name: 'backup',
    title: 'Backup and restore',
    blocks: [
      paragraph('Copies the database.'),
      heading('night', 'Every night'),
      { kind: 'list', ordered: false, items: [[paragraph(`${'far away '.repeat(40)}through a PROXY`)]] },
      { kind: 'table', head: [text('file')], rows: [[text('hub.sqlite')]] },
    ],
  },
]
const found = (query: string) => search(sectionsOf(pages), query).map(({ page, id }) => `${page}#${id}`)

it('finds every word, in any case and in any kind of block', () => {
  expect(found('CA makes')).toEqual(['tls#'])
  expect(found('sqlite')).toEqual(['backup#night'])
  expect(found('sqlite ca')).toEqual([])
})

it('puts a section with the word in its heading before one with the word in its text', () => {
  expect(found('proxy')).toEqual(['tls#proxy', 'backup#night'])
})

it('shows the words around the first one that was found', () => {
  const [, mention] = search(sectionsOf(pages), 'proxy')
  expect(mention!.excerpt).toMatch(/^… .*through a PROXY/)
  expect(mention!.excerpt.length).toBeLessThan(170)
})

it('finds nothing for an empty search', () => {
  expect(found('  ')).toEqual([])
})
