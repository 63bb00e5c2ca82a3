import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { kitVariables } from './scripts/kit-variables.ts'

const VARIABLES = 'virtual:kit-variables.css'

/** The portal's bundle: no inline script or style anywhere, because the hub's policy refuses both. */
export default defineConfig({
  plugins: [
    react(),
    {
      name: 'kit-variables',
      resolveId: (id) => (id === VARIABLES ? `\0${VARIABLES}` : undefined),
      load: (id) => (id === `\0${VARIABLES}` ? kitVariables() : undefined),
    },
  ],
  build: {
    // light-dark() is left to the browser: rewriting it for older ones would tie every token to a class of its own.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': process.env['HUB_URL'] ?? 'http://localhost:8080' } },
})
