/** The portal itself, with its router: all that a visitor does not need. */
import { useState } from 'react'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { offerBackToDialogs } from '@hedgerow/ui/back-first.ts'
import { routes } from './routes.tsx'

offerBackToDialogs()

export default function Portal() {
  const [router] = useState(() => createBrowserRouter(routes))
  return <RouterProvider router={router} />
}
