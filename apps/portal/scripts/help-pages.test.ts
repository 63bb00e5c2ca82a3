import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addressOf, FIRST_PAGE, plainText } from '../src/features/help/text.ts'
import { screenAt, screens } from '../src/parts/screens.ts'
import { findLooseEnds, linksIn, pages, readPage } from './help-pages.ts'

const SOURCES = join(import.meta.dirname, '../src')
/** Every address of a page and of its headings. */
const addresses = new Set(
  pages.flatMap(({ name, blocks }) => [
    addressOf(name),
    ...blocks.flatMap((block) => (block.kind === 'heading' ? [addressOf(name, block.id)] : [])),
  ]),
)

describe('the help', () => {
  it('begins with the page that links to every other one, and no link is broken', () => {
    expect(pages[0]?.name).toBe(FIRST_PAGE)
    expect(findLooseEnds(pages)).toEqual([])
    const [first, ...others] = pages
    const alone = { name: 'alone', title: 'Alone', blocks: readPage('operations/alone.md', '# A\n\n[b](#none)').blocks }
    expect(findLooseEnds([first!, ...others, alone])).toEqual([
      "the help's page alone leads to /help/alone#none, which is not there",
      'docs/operations/README.md does not lead to alone',
    ])
  })

  it('has the pages to which screens link', () => {
    const asked = globSync('**/*.tsx', { cwd: SOURCES }).flatMap((file) => {
      const text = readFileSync(join(SOURCES, file), 'utf8')
      return [...text.matchAll(/<(?:HelpLink to="|Link to="\/help\/)([^"]+)"/g)].map(([, to]) => `/help/${to}`)
    })
    const settings = readFileSync(join(SOURCES, 'features/settings/page.tsx'), 'utf8')
    const ofTabs = [...settings.matchAll(/^ {2}\['\w+', '\w+', '([\w#-]+)'\]/gm)].map(([, to]) => `/help/${to}`)
    expect([asked.length > 2, ofTabs.length]).toEqual([true, 5])
    expect([...asked, ...ofTabs].filter((to) => !addresses.has(to))).toEqual([])
  })

  it('has the page about each screen, which the account menu opens', () => {
    const helps = screens.flatMap((screen) => ('help' in screen ? [`/help/${screen.help}`] : []))
    expect(helps.filter((to) => !addresses.has(to))).toEqual([])
    const without = screens.flatMap((screen) => ('help' in screen ? [] : [screen.path]))
    expect(without).toEqual(['/dashboard', '/help', '/help/:page'])
    expect(screenAt('/gateways/quince-corner')?.help).toBe('gateway-problems')
    expect(screenAt('/help/tls')?.help).toBeUndefined()
  })
})

describe('a page', () => {
  const read = (text: string) => readPage('operations/tls.md', `# HTTPS\n\n${text}`).blocks

  it('shows HTML in code as text, and refuses HTML elsewhere', () => {
    expect(read('Write `<b>`.')).toEqual([
      {
        kind: 'paragraph',
        content: [
          { kind: 'text', text: 'Write ' },
          { kind: 'code', text: '<b>' },
          { kind: 'text', text: '.' },
        ],
      },
    ])
    for (const html of ['<script>alert(1)</script>', 'a <img src=x onerror=y> b', '![x](javascript:y)'])
      expect(() => read(html), html).toThrow('operations/tls.md: the help cannot show')
  })

  it('links to other pages of help and to the web, and to nothing else', () => {
    const links = (text: string) => linksIn(read(text))
    expect(links('[a](backup.md#every-night) [b](../security.md) [c](#x) [d](README.md)')).toEqual([
      '/help/backup#every-night',
      '/help/security',
      '/help/tls#x',
      '/help',
    ])
    expect(links('[e](https://ntfy.sh)')).toEqual(['https://ntfy.sh'])
    expect(links('[f](javascript:alert) [g](//evil.example) [h](../../package.json) [i](data:text/html,x)')).toEqual([])
  })

  it('gives headings the names that GitHub gives them', () => {
    const ids = read('## Your own certificate\n\n## `HUB_*`, and more\n\n## Your own certificate').flatMap((block) =>
      block.kind === 'heading' ? [block.id] : [],
    )
    expect(ids).toEqual(['your-own-certificate', 'hub_-and-more', 'your-own-certificate-1'])
  })

  it('makes a choice of a list whose items each begin with a bold line, and of no other', () => {
    const [choices] = read('- **Debian**\n\n      apt-get install x\n\n- **Podman**\n\n  See [a](backup.md).\n')
    expect(choices).toMatchObject({
      kind: 'choices',
      choices: [
        { title: 'Debian', content: [{ kind: 'code', text: 'apt-get install x' }] },
        { title: 'Podman', content: [{ kind: 'paragraph' }] },
      ],
    })
    expect(linksIn([choices!])).toEqual(['/help/backup'])
    expect(plainText([choices!])).toBe('Debian apt-get install x Podman See a.')
    for (const list of ['- **Bold** word\n\n  more\n\n- **Other**\n\n  more', '- **One**\n- **Two**', '- **A**\n\n  b'])
      expect(read(list), list).toMatchObject([{ kind: 'list' }])
  })
})
