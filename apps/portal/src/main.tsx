/** Starts the portal. The policy for zod must come first. */
import '#api/zod-policy.ts'
import { startTransition } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { hasToken } from '#api/token.ts'
import { App, isVisitorPage, loadPortal } from './app.tsx'
import { reloadWhenUpdated } from './reload-when-updated.ts'

reloadWhenUpdated()

const root = document.querySelector<HTMLElement>('#root')
if (root === null) throw new Error('index.html has no #root')
const named = root.dataset['page']
// An entry of the history with a state belongs to the portal's router, which knows where to go after the sign-in.
const page = isVisitorPage(named) && history.state === null ? named : undefined
if (page === undefined) void loadPortal()
// In a transition, React works in small pieces, between which the person can type.
if (page !== undefined && !hasToken()) startTransition(() => void hydrateRoot(root, <App page={page} />))
else {
  createRoot(root).render(<App page={page} />)
  // color-scheme.js holds forms that are sent before, and hides the visitors' form from a person with a session.
  document.documentElement.dataset['ready'] = ''
  delete document.documentElement.dataset['session']
}
