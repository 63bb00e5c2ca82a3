/**
 * All that runs on a public page: finds out whether the visitor is signed in, loads the demo when it is about to be
 * seen, and plays the drawing of the registration. The pages are whole without it.
 */
import './styles.ts'
import { API_BASE, TOKEN_STORAGE_KEY } from '@hedgerow/contract'
import type { SessionUser } from '@hedgerow/contract'
import { validateSession } from 'virtual:contract-calls'

const root = document.documentElement

void recognise()

/** Sends who is signed in from the landing page to the dashboard; elsewhere shows them their own header. */
async function recognise(): Promise<void> {
  const token = localStorage.getItem(TOKEN_STORAGE_KEY)
  if (token === null) return
  try {
    const user = await whoHas(token)
    if (location.pathname === '/') return location.replace('/dashboard')
    for (const part of document.querySelectorAll<HTMLElement>('[data-for]'))
      part.hidden = part.dataset['for'] !== 'signed-in'
    for (const field of document.querySelectorAll('[data-field="name"]'))
      field.textContent = user.username || user.email
  } catch (error) {
    console.error('Session validation failed:', error)
    localStorage.removeItem(TOKEN_STORAGE_KEY)
  }
  delete root.dataset['session']
}

async function whoHas(token: string): Promise<SessionUser> {
  const answer = await fetch(`${API_BASE}${validateSession.path}`, {
    headers: { accept: 'application/json', authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(`the hub answers ${answer.status}`)
  return (await answer.json()) as SessionUser
}
