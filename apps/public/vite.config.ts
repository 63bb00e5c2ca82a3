import { contractCalls } from '@hedgerow/contract/vite/contract-calls.ts'
import { buildOptions } from '@hedgerow/ui/vite/build.ts'
import { preloadFonts } from '@hedgerow/ui/vite/preload-fonts.ts'
import { bundledPackages } from '@hedgerow/ui/vite/bundled-packages.ts'
import { precompressed } from '@hedgerow/ui/vite/precompressed.ts'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { publicPages } from './scripts/public-pages.ts'

export default defineConfig({
  plugins: [
    react(),
    contractCalls,
    publicPages({ plugins: [contractCalls] }),
    preloadFonts((page) => (page === 'landing' ? ['geist-latin', 'geist-mono-latin'] : ['geist-latin'])),
    bundledPackages,
    precompressed,
  ],
  build: buildOptions,
  server: { proxy: { '/api': process.env['HUB_URL'] ?? 'http://localhost:8080' } },
})
