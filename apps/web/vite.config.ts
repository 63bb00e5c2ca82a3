import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { contractCalls } from './scripts/contract-calls.ts'
import { kitVariables } from './scripts/kit-variables.ts'
import { precompressed } from './scripts/precompressed.ts'
import { publicSite } from './scripts/public-site.ts'

const modules = new Map([
  ['virtual:kit-variables.css', kitVariables],
  ['virtual:contract-calls', contractCalls],
])

const generated: Plugin = {
  name: 'generated',
  resolveId: (id) => (modules.has(id) ? `\0${id}` : undefined),
  load: (id) => modules.get(id.slice(1))?.(),
}

/** The portal and the public site: no inline script or style anywhere, because the hub's policy refuses both. */
export default defineConfig({
  plugins: [react(), generated, publicSite({ plugins: [generated] }), precompressed],
  build: {
    // light-dark() is left to the browser: rewriting it for older ones would tie every token to a class of its own.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The contract only declares, so a page that takes one constant from it carries no schemas.
    rolldownOptions: {
      treeshake: { moduleSideEffects: [{ test: /packages[\\/]contract[\\/]/, sideEffects: false }] },
      // On a slow machine it would warn of our own compression, which takes its time.
      checks: { bundlerTimings: false },
    },
  },
  server: { proxy: { '/api': process.env['HUB_URL'] ?? 'http://localhost:8080' } },
})
