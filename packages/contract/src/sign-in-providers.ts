/**
 * Signing in at another server by OpenID Connect. The provider sends the browser back to the portal's page
 * `/login/:provider`, which hands the answer over with the ticket of this tab, so the API needs no door for other
 * sites.
 */
import { z } from 'zod'
import { sessionUser } from './accounts.ts'
import { call } from './call.ts'

const ofProvider = z.strictObject({ provider: z.string().min(1).max(20) })
const webPage = z.url({ protocol: /^https?$/ })
const sealedTicket = z.string().min(1).max(2_000)

/** The ways to sign in that this hub offers. */
export const signInWays = call({
  method: 'GET',
  path: '/v1/auth/providers',
  response: z.object({
    /** False: only a provider signs people in. */
    passwords: z.boolean(),
    /** The hub's address, to which providers send people back. */
    address: z.string().nullable(),
    providers: z.array(z.object({ id: z.string(), name: z.string() })),
  }),
})

/** The tab keeps `ticket` and opens `url`. */
export const beginProviderSignIn = call({
  method: 'POST',
  path: '/v1/auth/providers/:provider/begin',
  params: ofProvider,
  errors: ['provider_not_found', 'provider_unavailable', 'too_many_requests'],
  response: z.object({ url: webPage, ticket: z.string() }),
})

/**
 * `answer` is the query with which the provider sent the browser back. When no account is linked yet and the person may
 * have one, the answer is a `link` for `linkProvider`.
 */
export const completeProviderSignIn = call({
  method: 'POST',
  path: '/v1/auth/providers/:provider/complete',
  params: ofProvider,
  body: z.strictObject({ ticket: sealedTicket, answer: z.string().max(8_000) }),
  errors: [
    'provider_not_found',
    'provider_unavailable',
    'provider_sign_in_ended',
    'provider_answer_refused',
    'provider_gives_no_role',
    'account_inactive',
    'last_admin',
    'session_ended',
    'too_many_requests',
  ],
  response: z.union([z.object({ accessToken: z.string(), user: sessionUser }), z.object({ link: z.string() })]),
})

/**
 * Links the account at the provider with the caller's own, within 5 minutes after they signed in here with their
 * password and, if they have it, two-factor.
 */
export const linkProvider = call({
  method: 'POST',
  path: '/v1/auth/provider-links',
  body: z.strictObject({ link: sealedTicket }),
  errors: ['provider_sign_in_ended', 'password_too_long_ago', 'provider_account_taken'],
  response: null,
})

export const providerLink = z.object({
  id: z.string(),
  /** The provider's name, or its address when the hub has it no more. */
  provider: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime(),
})
export type ProviderLink = z.output<typeof providerLink>

/** The caller's accounts at providers. */
export const listProviderLinks = call({
  method: 'GET',
  path: '/v1/auth/provider-links',
  response: z.array(providerLink),
})

/** Ends the sessions that were opened with it, except this one. */
export const unlinkProvider = call({
  method: 'DELETE',
  path: '/v1/auth/provider-links/:id',
  params: z.strictObject({ id: z.uuid('This is not the id of a link') }),
  errors: ['provider_link_not_found', 'only_way_in'],
  response: null,
})

/** As `logout`; `url` is the page where the person ends the session at the provider too, if that has one. */
export const logoutAtProvider = call({
  method: 'POST',
  path: '/v1/auth/providers/logout',
  response: z.object({ url: webPage.nullable() }),
})

/** OpenID Connect Back-Channel Logout 1.0: the provider ends the sessions of a person. */
export const backChannelLogout = call({
  method: 'POST',
  path: '/v1/auth/providers/:provider/back-channel-logout',
  params: ofProvider,
  form: true,
  body: z.object({ logout_token: z.string().min(1).max(8_000) }),
  errors: ['provider_not_found', 'provider_unavailable', 'logout_token_invalid', 'too_many_requests'],
  response: null,
})
