/** The list of the portal's addresses, by which the hub answers 404 for all others. */
import { join } from 'node:path'
import { loadModule } from '@hedgerow/ui/vite/load-module.ts'
import type { RouteObject } from 'react-router'
import type { Plugin } from 'vite'

const ROOT = join(import.meta.dirname, '..')

/** `plugins` resolve what the portal's sources import. */
export function portalPaths({ plugins }: { plugins: Plugin[] }): Plugin {
  return {
    name: 'portal-paths',
    async generateBundle() {
      const { routes } = await loadModule<{ routes: RouteObject[] }>(ROOT, '/src/routes.tsx', plugins)
      const paths = pathsOf(routes).filter((path) => path !== '/' && path !== '*')
      this.emitFile({ type: 'asset', fileName: 'portal-paths.json', source: JSON.stringify(paths) })
    },
  }
}

function pathsOf(routes: readonly RouteObject[]): string[] {
  return routes.flatMap(({ path, children = [] }) => [...(path === undefined ? [] : [path]), ...pathsOf(children)])
}
