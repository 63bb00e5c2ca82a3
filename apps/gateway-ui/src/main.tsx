/** Starts the device's own interface: the component library, the session and the screens. */
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { DEVICE_UI_BASE } from '@hedgerow/contract'
import { offerBackToDialogs } from '@hedgerow/ui/back-first.ts'
import { Kit } from '@hedgerow/ui/kit.tsx'
import { createDeviceQueries } from './queries.ts'
import { routes } from './routes.tsx'

offerBackToDialogs()

const root = document.querySelector('#root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <Kit>
    <QueryClientProvider client={createDeviceQueries()}>
      <RouterProvider router={createBrowserRouter(routes, { basename: DEVICE_UI_BASE })} />
    </QueryClientProvider>
  </Kit>,
)
