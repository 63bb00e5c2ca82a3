import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { startServiceWorker } from '#api/service-worker.ts'
import { createQueryClient } from '@hedgerow/ui/query-client.ts'
import { ScreenFrame } from '@hedgerow/ui/screen-frame.tsx'
import { HubBar } from './hub-bar.tsx'

/**
 * The frame of every signed-in screen. It links to the screens but imports none. `tools` are elements of the top bar.
 */
export function Layout({ tools }: { tools: ReactNode }) {
  const [queries] = useState(createQueryClient)
  useEffect(startServiceWorker, [])
  return (
    <QueryClientProvider client={queries}>
      <ScreenFrame bar={<HubBar tools={tools} />} />
    </QueryClientProvider>
  )
}
