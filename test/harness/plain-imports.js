/**
 * Set-up of every test file: imports by a file's name resolve to that file, and a test file keeps its own name. Vitest
 * tells the main process of each of a hub's 3,000 imports, for its watch mode, and imports a test file by a new name in
 * every run, so that the compile cache never knows it. JavaScript, as this file itself is imported by such a name.
 */
import { registerHooks, setSourceMapsSupport } from 'node:module'

const NAME_OF_THE_RUN = /\?vitest=\d+$/
const self = import.meta.url.replace(NAME_OF_THE_RUN, '')

// Node runs each source with its own lines, so it need not look for a map in whatever is compiled.
setSourceMapsSupport(false)

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier.startsWith('node:')) return { url: specifier, format: 'builtin', shortCircuit: true }
    // What is required may be a folder with such a name.
    if (specifier.startsWith('.') && context.conditions.includes('import')) {
      const url = new URL(specifier, context.parentURL).href
      if (url.endsWith('.ts')) return { url, format: 'module-typescript', shortCircuit: true }
      if (url.endsWith('js')) return { url, shortCircuit: true }
    }
    const resolved = nextResolve(specifier, context)
    const url = resolved.url.replace(NAME_OF_THE_RUN, '')
    // This file runs once, other set-up runs before each test file.
    if (url === self) return { ...resolved, url: import.meta.url }
    return url.endsWith('.test.ts') ? { ...resolved, url } : resolved
  },
})
