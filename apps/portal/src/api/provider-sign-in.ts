/**
 * A sign-in at a provider, across the pages that it takes. What this tab began is in its session storage: an answer
 * that comes to another tab or browser is nobody's.
 */
import { beginProviderSignIn, linkProvider } from 'virtual:contract-calls'
import { api } from './client.ts'

const BEGUN_KEY = 'hubProviderSignIn'
const LINK_KEY = 'hubProviderLink'

type Begun = { ticket: string; to?: string | undefined }

/** Leaves the page. `to` is the address to open afterwards. Throws ApiError. */
export async function leaveForProvider(provider: string, to: string | undefined): Promise<void> {
  const { url, ticket } = await api(beginProviderSignIn, { params: { provider } })
  sessionStorage.setItem(BEGUN_KEY, JSON.stringify({ ticket, to } satisfies Begun))
  location.assign(url)
}

/** What this tab began, once. */
export function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(BEGUN_KEY)
  sessionStorage.removeItem(BEGUN_KEY)
  return text === null ? undefined : (JSON.parse(text) as Begun)
}

/** An account at a provider that waits for the password of the account here. */
export const readWaitingLink = (): string | null => sessionStorage.getItem(LINK_KEY)
export const holdLink = (link: string): void => sessionStorage.setItem(LINK_KEY, link)
export const dropWaitingLink = (): void => sessionStorage.removeItem(LINK_KEY)

/** After the password and, with two-factor, the code. Throws ApiError; the link waits no more. */
export async function linkWaiting(): Promise<void> {
  const link = readWaitingLink()
  dropWaitingLink()
  if (link !== null) await api(linkProvider, { body: { link } })
}
