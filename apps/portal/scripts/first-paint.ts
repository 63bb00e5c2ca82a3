/** Writes the first view of /login and /register into the portal's page, until their script has loaded. */
import { join } from 'node:path'
import { loadModule } from '@hedgerow/ui/vite/load-module.ts'
import type { Plugin } from 'vite'
import type { renderFirstPaint } from '../src/first-paint.tsx'

const ROOT = join(import.meta.dirname, '..')
const MARK = '<!--first-paint-->'

/** `plugins` resolve the imports of the portal's sources. */
export function firstPaint({ plugins }: { plugins: Plugin[] }): Plugin {
  return {
    name: 'first-paint',
    // main.tsx imports the stylesheet without using its class names; tree shaking would drop it.
    transform: {
      order: 'post',
      filter: { id: /packages\/ui\/src\/entrance\.module\.css$/ },
      handler: (code) => ({ code, moduleSideEffects: 'no-treeshake' }),
    },
    transformIndexHtml: {
      order: 'post',
      async handler(html, { server }) {
        // The development server has no first view.
        if (server) return html.replace(MARK, '')
        const { renderFirstPaint: render } = await loadModule<{ renderFirstPaint: typeof renderFirstPaint }>(
          ROOT,
          '/src/first-paint.tsx',
          plugins,
        )
        return html.replace(MARK, () => render())
      },
    },
  }
}
