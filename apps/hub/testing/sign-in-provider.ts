/** A real OpenID provider (`oidc-provider`) on loopback, whose tokens a test may spoil on their way. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import OpenIdProvider from 'oidc-provider'
import type { ProviderSettings } from '../src/config.ts'

export const CLIENT = { id: 'the-hub', secret: 'a-secret-of-the-hub-and-its-provider' }

export const providerSettings = (id: string, issuer: string): ProviderSettings => ({
  id,
  issuer,
  clientId: CLIENT.id,
  clientSecret: CLIENT.secret,
  name: `The ${id} house`,
  scopes: 'openid profile email',
  groupsClaim: 'groups',
  roles: [
    { group: 'guards', role: 'manager' },
    { group: 'masters', role: 'admin' },
    { group: 'family', role: 'user' },
  ],
})

export type Claims = Readonly<Record<string, unknown>>

export type SignInProvider = {
  issuer: string
  /** By the name that a person types there; the provider's own id of them is the same. */
  people: Map<string, Claims>
  /** With which it signs. */
  key: CryptoKey
  /** Changes the answers of these paths, as a provider that was broken into. */
  spoil: { token?: (answer: Claims) => Claims | Promise<Claims>; description?: (answer: Claims) => Claims }
  /** Signs in there as a browser would, and returns the query with which it comes back. */
  visit(url: string, name: string, cookies?: Map<string, string>): Promise<string>
  /** Ends the session there, by its own page. */
  leave(url: string, cookies: Map<string, string>): Promise<void>
  /** As it sends one to the hub. */
  logoutToken(subject: string, key?: CryptoKey): Promise<string>
  stop(): Promise<void>
}

export async function startSignInProvider(hubUrl: string, slot: 'first' | 'second' = 'first'): Promise<SignInProvider> {
  const people = new Map<string, Claims>()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new OpenIdProvider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of the tests'] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${hubUrl}/login/${slot}`],
        post_logout_redirect_uris: [`${hubUrl}/login`],
        backchannel_logout_uri: `${hubUrl}/api/v1/auth/providers/${slot}/back-channel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: { profile: ['name', 'preferred_username', 'groups'], email: ['email', 'email_verified'] },
    features: { backchannelLogout: { enabled: true } },
    // Its dispatcher refuses loopback.
    fetch: (url: string, options: RequestInit) => fetch(url, Object.assign(options, { dispatcher: undefined })),
    ttl: { IdToken: 60 },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ ...people.get(id), sub: id }),
    }),
    loadExistingGrant: async ({ oidc }: { oidc: { session: { accountId: string } } }) => {
      const grant = new provider.Grant({ clientId: CLIENT.id, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  provider.use(async (context, next) => {
    await next()
    const { token, description } = house.spoil
    if (context.path === '/token' && token) context.body = await token(context.body as Claims)
    if (context.path.startsWith('/.well-known/') && description) context.body = description(context.body as Claims)
  })
  server.on('request', provider.callback())

  const house: SignInProvider = {
    issuer,
    people,
    key: privateKey,
    spoil: {},
    async visit(url, name, cookies = new Map()) {
      let step = await follow(url, cookies)
      if (step.location === undefined) {
        const action = new URL(formOf(step.html), step.at).href
        step = await follow(action, cookies, { prompt: 'login', login: name, password: 'any' })
      }
      const { location, html } = step
      if (location === undefined) throw new Error(`the provider shows a page instead of going back: ${html}`)
      return new URL(location).search
    },
    async leave(url, cookies) {
      const { html, at } = await follow(url, cookies)
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
      await follow(new URL(formOf(html), at).href, cookies, { xsrf, logout: 'yes' })
    },
    logoutToken: (subject, key = privateKey) =>
      new SignJWT({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sub: subject })
        .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt' })
        .setIssuer(issuer)
        .setAudience(CLIENT.id)
        .setIssuedAt()
        .setJti(randomUUID())
        .sign(key),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return house
}

const formOf = (html: string): string => /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? ''

/** A browser that keeps cookies: it follows redirects until a page, or another host. */
async function follow(url: string, cookies: Map<string, string>, form?: Record<string, string>) {
  let [at, body] = [url, form]
  for (;;) {
    const response = await fetch(at, {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(body && { body: new URLSearchParams(body) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const html = await response.text()
    const to = response.headers.get('location')
    if (to === null) return { html, at, location: undefined }
    const location = new URL(to, at)
    if (location.origin !== new URL(at).origin) return { html, at, location: location.href }
    ;[at, body] = [location.href, undefined]
  }
}
