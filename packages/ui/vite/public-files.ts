/**
 * Vite plugin: puts the files that every app of ours has at its root beside the page: the script for the colour scheme,
 * which must run before the first paint, and the icon.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const FOLDER = join(import.meta.dirname, '../public')
const FILES = { 'color-scheme.js': 'text/javascript', 'icon.svg': 'image/svg+xml' } as const

export const publicFiles: Plugin = {
  name: 'public-files',
  configureServer({ config, middlewares }) {
    for (const [name, type] of Object.entries(FILES))
      middlewares.use(config.base + name, (_request, response) => {
        response.setHeader('content-type', type)
        response.end(readFileSync(join(FOLDER, name)))
      })
  },
  generateBundle() {
    for (const fileName of Object.keys(FILES))
      this.emitFile({ type: 'asset', fileName, source: readFileSync(join(FOLDER, fileName)) })
  },
}
