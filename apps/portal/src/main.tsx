/** Starts the portal: the component library, the session and the routes. The policy for zod must come first. */
import '#api/zod-policy.ts'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { SessionProvider } from '#api/session.tsx'
import { Kit } from '@hedgerow/ui/kit.tsx'
// A stylesheet of first-paint.tsx, whose markup is in the page before any script runs.
import '@hedgerow/ui/entrance.module.css'
import './first-paint.css'
import { offerBackToDialogs } from '@hedgerow/ui/back-first.ts'
import { reloadWhenUpdated } from './reload-when-updated.ts'
import { routes } from './routes.tsx'

reloadWhenUpdated()
offerBackToDialogs()

const root = document.querySelector('#root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <Kit>
    <SessionProvider>
      <RouterProvider router={createBrowserRouter(routes)} />
    </SessionProvider>
  </Kit>,
)
