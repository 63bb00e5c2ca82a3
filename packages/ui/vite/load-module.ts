import { createServer, type Plugin } from 'vite'

/**
 * Runs a module of the browser's sources in this process, with the class names of the build's stylesheets. `path` is
 * absolute below `root`; `plugins` resolve the imports of the sources.
 */
export async function loadModule<T>(root: string, path: string, plugins: Plugin[]): Promise<T> {
  const server = await createServer({
    root,
    configFile: false,
    plugins,
    appType: 'custom',
    logLevel: 'warn',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  })
  try {
    return (await server.ssrLoadModule(path)) as T
  } finally {
    await server.close()
  }
}
