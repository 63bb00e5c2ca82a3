import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What the committed pictures and the film show. The last step of `npm run pictures` runs this file: it stores a hash
 * of the sources of their screens, and of the pictures. test/gates/pictures.test.ts compares.
 */
const ROOT = join(import.meta.dirname, '..')
const RECORD = 'scripts/pictured-screens.json'
const PORTAL = 'apps/portal/src'
const MEDIA = 'apps/public/public/media'
/** The bar above each screen, and the colours of all. */
const FRAME = [`${PORTAL}/features/shell/hub-bar.tsx`, 'packages/ui/src/base.css']

type Pictured = { files: readonly string[]; screens: readonly string[]; others: readonly string[] }

const PICTURED: Readonly<Record<string, Pictured>> = {
  dashboard: {
    files: ['light', 'dark'].map((scheme) => `${MEDIA}/dashboard-${scheme}.webp`),
    screens: ['page', 'network-chart'].map((part) => `${PORTAL}/features/dashboard/${part}.tsx`),
    others: ['scripts/film/yesterday.ts'],
  },
  film: {
    files: [...['.webm', '.mp4', '.vtt', '-poster.jpg'].map((end) => `${MEDIA}/demo${end}`), 'docs/images/threats.png'],
    screens: ['threats/page', 'threats/lightbox', 'shell/notice-list'].map((part) => `${PORTAL}/features/${part}.tsx`),
    others: ['record-demo.ts', 'demo-fleet.ts', 'demo-places.ts', 'demo-switches.html'].map(
      (file) => `scripts/${file}`,
    ),
  },
}

type PictureRecord = { [name: string]: { screens: string; files: { [path: string]: string } } }

/** `read` returns the content of a file of the project. */
export function describePictures(read = (path: string): Buffer => readFileSync(join(ROOT, path))): PictureRecord {
  const describe = ({ files, screens, others }: Pictured) => ({
    screens: hashOf([...looksOf([...FRAME, ...screens], read), ...others.map((path) => plain(read(path)))].join('\n')),
    files: Object.fromEntries(files.map((path) => [path, hashOf(read(path))])),
  })
  return Object.fromEntries(Object.entries(PICTURED).map(([name, pictured]) => [name, describe(pictured)]))
}

export const readRecord = (): PictureRecord => JSON.parse(readFileSync(join(ROOT, RECORD), 'utf8')) as PictureRecord

/** Markup, styles and words of these files and of all that they import; the logic may change without a picture. */
function looksOf(entries: readonly string[], read: (path: string) => Buffer): string[] {
  const found = new Map<string, string>()
  const follow = (path: string): void => {
    if (found.has(path)) return
    const source = read(path).toString()
    found.set(path, /\.(tsx|css)$|\/messages\.ts$/.test(path) ? plain(source) : '')
    for (const [, name] of source.matchAll(/(?:from|import) '([^']+\.(?:tsx?|css))'/g)) {
      const imported = pathOf(name!, path)
      if (imported !== undefined) follow(imported)
    }
  }
  for (const entry of entries) follow(entry)
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, look]) => look)
}

function pathOf(name: string, importer: string): string | undefined {
  if (name.startsWith('.')) return join(dirname(importer), name)
  if (name.startsWith('#')) return join(PORTAL, name.slice(1))
  return name.startsWith('@hedgerow/ui/') ? name.replace('@hedgerow/ui', 'packages/ui/src') : undefined
}

/** Without comments, imports and spaces. */
const plain = (source: string | Buffer): string =>
  source
    .toString()
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/^[\t ]*(?:\/\/|import ).*$/gm, '')
    .replaceAll(/\s+/g, '')

const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16)

if (import.meta.main) writeFileSync(join(ROOT, RECORD), `${JSON.stringify(describePictures(), undefined, 2)}\n`)
