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
import { visitorPages } from './scripts/visitor-pages.ts'
import { portalPaths } from './scripts/portal-paths.ts'

const generated = [kitVariables, contractCalls]

export default defineConfig({
  plugins: [
    react(),
    publicFiles,
    helpPages,
    ...generated,
    portalPaths({ plugins: generated }),
    visitorPages({ plugins: generated }),
    preloadFonts(() => ['geist-latin']),
    bundledPackages,
    precompressed,
  ],
  build: {
    ...buildOptions,
    rolldownOptions: {
      ...buildOptions.rolldownOptions,
      // All that a visitor's page needs is one file, the router another one, and the frame of the screens a third,
      // instead of one for each set of screens that share a part of it. Fewer files compress better.
      // They take whole modules: those import parts of the contract, not its index with zod.
      output: {
        codeSplitting: {
          groups: [
            { name: 'visitor', test: /apps[\\/]portal[\\/]src[\\/]main\.tsx$/ },
            { name: 'portal', test: /apps[\\/]portal[\\/]src[\\/]portal\.tsx$/ },
            { name: 'shell', test: /apps[\\/]portal[\\/]src[\\/]features[\\/]shell[\\/]layout\.tsx$/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': process.env['HUB_URL'] ?? 'http://localhost:8080' } },
})
