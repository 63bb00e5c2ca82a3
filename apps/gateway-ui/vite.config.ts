import { deviceCalls } from '@hedgerow/contract/vite/contract-calls.ts'
import { buildOptions } from '@hedgerow/ui/vite/build.ts'
import { kitVariables } from '@hedgerow/ui/vite/kit-variables.ts'
import { bundledPackages } from '@hedgerow/ui/vite/bundled-packages.ts'
import { precompressed } from '@hedgerow/ui/vite/precompressed.ts'
import { publicFiles } from '@hedgerow/ui/vite/public-files.ts'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/device/',
  plugins: [react(), publicFiles, kitVariables, deviceCalls, bundledPackages, precompressed],
  build: buildOptions,
  server: { proxy: { '/device/api': process.env['GATEWAY_URL'] ?? 'http://localhost:8080' } },
})
