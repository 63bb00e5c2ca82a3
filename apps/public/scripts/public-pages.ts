/** Renders the public pages when the site is built, so that each is readable without a script. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { loadModule } from '@hedgerow/ui/vite/load-module.ts'
import type { Plugin } from 'vite'
import type { renderPage } from '../src/render.tsx'

const ROOT = join(import.meta.dirname, '..')
/** The part that all pages share. No page has a file of its own. */
const SHELL = join(ROOT, 'page.html')
const PAGES = ['landing', 'beta', 'beta-register', 'beta-sign-in', 'not-found']
const FILES: ReadonlySet<string> = new Set(PAGES.map((name) => join(ROOT, `${name}.html`)))
/** The hub's addresses of the public pages; the development server uses the same ones. */
const ADDRESSES: Readonly<Record<string, string>> = { '/': '/landing.html', '/beta': '/beta.html' }

type Sources = { renderPage: typeof renderPage }

/** `plugins` resolve the imports of the site's sources. */
export function publicPages({ plugins }: { plugins: Plugin[] }): Plugin {
  const load = () => loadModule<Sources>(ROOT, '/src/render.tsx', plugins)
  let sources: Promise<Sources> | undefined
  return {
    name: 'public-pages',
    config: () => ({
      build: { rolldownOptions: { input: [...FILES] } },
    }),
    resolveId: (id) => (FILES.has(id) ? id : null),
    load: (id) => (FILES.has(id) ? readFileSync(SHELL, 'utf8') : null),
    // visit.ts imports the stylesheets without using their class names; tree shaking would drop them.
    transform: {
      order: 'post',
      filter: { id: /(?:apps\/public\/src\/[\w-]+|packages\/ui\/src\/wordmark)\.module\.css$/ },
      handler: (code) => ({ code, moduleSideEffects: 'no-treeshake' }),
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const page = ADDRESSES[request.url ?? '']
        if (page === undefined) return next()
        server.transformIndexHtml(page, readFileSync(SHELL, 'utf8')).then((html) => {
          response.setHeader('content-type', 'text/html')
          response.end(html)
        }, next)
      })
    },
    transformIndexHtml: {
      order: 'post',
      async handler(html, { filename, server }) {
        const name = basename(filename, '.html')
        if (!PAGES.includes(name)) return html
        // The development server renders each time, so that a change is visible.
        const { renderPage: render } = await (server ? load() : (sources ??= load()))
        const { head, body } = render(name, { hasDemo: existsSync(join(ROOT, 'public/media/demo.webm')) })
        return html.replace('<!--head-->', () => head).replace('<!--body-->', () => body)
      },
    },
  }
}
