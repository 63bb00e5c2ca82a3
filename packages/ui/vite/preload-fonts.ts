import { basename } from 'node:path'
import type { Plugin } from 'vite'

/**
 * Preloads typefaces with the page: with `font-display: optional` they then arrive in time, and no text moves. `fonts`
 * names the files that a page's first screen uses, without their hashes.
 */
export function preloadFonts(fonts: (page: string) => readonly string[]): Plugin {
  return {
    name: 'preload-fonts',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {}, filename }) {
        const wanted = fonts(basename(filename, '.html'))
        return Object.keys(bundle)
          .filter((file) => file.endsWith('.woff2') && wanted.some((font) => basename(file).startsWith(font)))
          .map((file) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: true },
            injectTo: 'head' as const,
          }))
      },
    },
  }
}
