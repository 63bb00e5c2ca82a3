import { contractCalls } from '@hedgerow/contract/vite/contract-calls.ts'
import { buildOptions } from '@hedgerow/ui/vite/build.ts'
import { kitVariables } from '@hedgerow/ui/vite/kit-variables.ts'
import { preloadFonts } from '@hedgerow/ui/vite/preload-fonts.ts'
import { bundledPackages } from '@hedgerow/ui/vite/bundled-packages.ts'
import { precompressed } from '@hedgerow/ui/vite/precompressed.ts'
import { publicFiles } from '@hedgerow/ui/vite/public-files.ts'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { helpPages } from './scripts/help-pages.ts'
import { firstPaint } from './scripts/first-paint.ts'
import { portalPaths } from './scripts/portal-paths.ts'

const generated = [kitVariables, contractCalls]

export default defineConfig({
  plugins: [
    react(),
    publicFiles,
    helpPages,
    ...generated,
    portalPaths({ plugins: generated }),
    firstPaint({ plugins: generated }),
    preloadFonts(() => ['geist-latin']),
    bundledPackages,
    precompressed,
  ],
  build: buildOptions,
  server: { proxy: { '/api': process.env['HUB_URL'] ?? 'http://localhost:8080' } },
})
