declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  type Context = { path: string; body: unknown }
  /** What the tests use of it. */
  export default class OpenIdProvider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    Grant: new (of: { clientId: string; accountId: string }) => {
      addOIDCScope(scope: string): void
      save(): Promise<string>
    }
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    callback(): RequestListener
  }
}
