/**
 * Writes the files of the pages without a session: the portal's page with the drawn form in it. The portal's own page
 * asks for the code of the router at once.
 */
import { join } from 'node:path'
import { loadModule } from '@hedgerow/ui/vite/load-module.ts'
import type { Plugin, Rolldown } from 'vite'
import type { drawVisitorPages } from '../src/visitor-pages.tsx'

const ROOT = join(import.meta.dirname, '..')
const PORTAL = /\/src\/portal\.tsx$/

/** `plugins` resolve the imports of the portal's sources. */
export function visitorPages({ plugins }: { plugins: Plugin[] }): Plugin {
  return {
    name: 'visitor-pages',
    apply: 'build',
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const page = bundle['index.html']
        if (page?.type !== 'asset') throw new Error('The build has no index.html')
        const html = String(page.source)
        const { drawVisitorPages: draw } = await loadModule<{ drawVisitorPages: typeof drawVisitorPages }>(
          ROOT,
          '/src/visitor-pages.tsx',
          plugins,
        )
        for (const { name, title, description, body } of draw()) {
          const source = replaceOnce(html, [
            [/<meta\s+name="description"[^>]*>/, `${title}<meta name="description" content="${description}" />`],
            ['<div id="root"></div>', `<div id="root" data-page="${name}">${body}</div>`],
          ])
          this.emitFile({ type: 'asset', fileName: `${name}.html`, source })
        }
        page.source = html.replace('</head>', () => `${preloads(bundle)}</head>`)
      },
    },
  }
}

function replaceOnce(html: string, parts: readonly (readonly [string | RegExp, string])[]): string {
  return parts.reduce((before, [what, by]) => {
    const after = before.replace(what, () => by)
    if (after === before) throw new Error(`index.html does not have ${what}`)
    return after
  }, html)
}

function preloads(bundle: Rolldown.OutputBundle): string {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const portal = chunks.find(({ moduleIds }) => moduleIds.some((id) => PORTAL.test(id)))
  if (!portal) throw new Error('The build has no chunk of the portal')
  const entries = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName))
  return [portal.fileName, ...portal.imports]
    .filter((file) => !entries.has(file))
    .map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`)
    .join('')
}
