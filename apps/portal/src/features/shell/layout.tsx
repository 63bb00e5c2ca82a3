import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { startServiceWorker } from '#api/service-worker.ts'
import { createQueryClient } from '@hedgerow/ui/query-client.ts'
import { ScreenFrame } from '@hedgerow/ui/screen-frame.tsx'
import { HubBar, type HubBarProps } from './hub-bar.tsx'

/**
 * The frame of every signed-in screen. It links to the screens but imports none. `tools` are elements of the top bar;
 * `loadThreats` runs once somebody points at that link.
 */
export function Layout(bar: HubBarProps) {
  const [queries] = useState(createQueryClient)
  useEffect(startServiceWorker, [])
  return (
    <QueryClientProvider client={queries}>
      <ScreenFrame bar={<HubBar {...bar} />} />
    </QueryClientProvider>
  )
}
