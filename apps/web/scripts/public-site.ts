/**
 * The public pages, rendered when the portal is built: each is readable before and without any script. Also the list of the
 * portal's addresses, from which the hub knows what is no page at all.
 */
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { RouteObject } from 'react-router'
import { createServer, type Plugin } from 'vite'
import type { renderPage } from '../src/site/render.tsx'

const ROOT = join(import.meta.dirname, '..')
const PAGES = ['landing', 'beta', 'not-found']
/** Where the hub has the public pages; the server for development answers alike. */
const ADDRESSES: Readonly<Record<string, string>> = { '/': '/landing.html', '/beta': '/beta.html' }

type Sources = { renderPage: typeof renderPage; routes: RouteObject[] }

/** `plugins` resolve what the portal's sources import. */
export function publicSite({ plugins }: { plugins: Plugin[] }): Plugin {
  let sources: Promise<Sources> | undefined
  return {
    name: 'public-site',
    config: () => ({
      build: { rolldownOptions: { input: ['index', ...PAGES].map((name) => join(ROOT, `${name}.html`)) } },
    }),
    // visit.ts asks for the stylesheets without their class names, which only the rendered pages need; that alone would drop them.
    transform: {
      order: 'post',
      filter: { id: /\/src\/(site\/[\w-]+|ui\/wordmark)\.module\.css$/ },
      handler: (code) => ({ code, moduleSideEffects: 'no-treeshake' }),
    },
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        request.url = ADDRESSES[request.url ?? ''] ?? request.url ?? '/'
        next()
      })
    },
    transformIndexHtml: {
      order: 'post',
      async handler(html, { filename, server }) {
        const name = basename(filename, '.html')
        if (!PAGES.includes(name)) return html
        // A server for development renders anew each time, so that a change is seen.
        const { renderPage: render } = await (server ? loadSources(plugins) : (sources ??= loadSources(plugins)))
        const { head, body } = render(name, { hasDemo: existsSync(join(ROOT, 'public/media/demo.webm')) })
        return html.replace('<!--head-->', () => head).replace('<!--body-->', () => body)
      },
    },
    async generateBundle() {
      const { routes } = await (sources ??= loadSources(plugins))
      const paths = pathsOf(routes).filter((path) => path !== '/' && path !== '*')
      this.emitFile({ type: 'asset', fileName: 'portal-paths.json', source: JSON.stringify(paths) })
    },
  }
}

/** Runs the sources here as they will run in a browser, with the class names that the stylesheets get. */
async function loadSources(plugins: Plugin[]): Promise<Sources> {
  const server = await createServer({
    root: ROOT,
    configFile: false,
    plugins,
    appType: 'custom',
    logLevel: 'warn',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  })
  try {
    const [{ renderPage: render }, { routes }] = await Promise.all([
      server.ssrLoadModule('/src/site/render.tsx'),
      server.ssrLoadModule('/src/routes.tsx'),
    ])
    return { renderPage: render as Sources['renderPage'], routes: routes as RouteObject[] }
  } finally {
    await server.close()
  }
}

function pathsOf(routes: readonly RouteObject[]): string[] {
  return routes.flatMap(({ path, children = [] }) => [...(path === undefined ? [] : [path]), ...pathsOf(children)])
}
