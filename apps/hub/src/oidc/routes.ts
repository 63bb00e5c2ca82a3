import * as contract from '@hedgerow/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { networkOf } from '../access/networks.ts'
import type { Refusals } from '../access/refusals.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Config } from '../config.ts'
import type { Tables } from '../database/tables.ts'
import { by, record } from '../facts/facts.ts'
import { parseForms } from '../http/json-bodies.ts'
import { mount } from '../http/mount.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Oidc } from './oidc.ts'

export type OidcRoutes = {
  oidc: Oidc
  db: Kysely<Tables>
  sessions: Sessions
  config: Pick<Config, 'providers' | 'localSignIn' | 'publicUrl'>
  /** Of one network, for what anybody may call. */
  failures: { waitMs(key: string): number; failed(key: string): void; takeBack(key: string): void }
  refusals: Pick<Refusals, 'count'>
}

export function oidcRoutes(app: FastifyInstance, deps: OidcRoutes): void {
  const { oidc, db, sessions, config } = deps
  const { publicUrl: address = null, localSignIn: passwords } = config
  const providers = config.providers.map(({ id, name }) => ({ id, name }))

  /** Counted at once and taken back on success, so that parallel guesses do not all pass. */
  async function counted<T>(sourceIp: string, work: () => Promise<T>): Promise<T> {
    const network = networkOf(sourceIp)
    const retryAfterMs = deps.failures.waitMs(network)
    if (retryAfterMs > 0) {
      deps.refusals.count('sign-in', sourceIp)
      throw new HubError('too_many_requests', { retryAfterMs })
    }
    deps.failures.failed(network)
    const done = await work()
    deps.failures.takeBack(network)
    return done
  }
  const agentOf = (request: FastifyRequest) => request.headers['user-agent'] ?? ''

  mount(app, contract.signInWays, () => ({ passwords, address, providers }))
  mount(app, contract.beginProviderSignIn, ({ params, sourceIp }) =>
    counted(sourceIp, () => oidc.begin(params.provider)),
  )
  mount(app, contract.completeProviderSignIn, ({ params, body, sourceIp, raw }) =>
    counted(sourceIp, () => oidc.complete(params.provider, body, { sourceIp, userAgent: agentOf(raw) })),
  )
  mount(app, contract.linkProvider, ({ body, act }) => oidc.link(body.link, act))
  mount(app, contract.listProviderLinks, ({ caller }) => oidc.list(caller))
  mount(app, contract.unlinkProvider, ({ params, act }) => oidc.unlink(params.id, act))
  mount(app, contract.logoutAtProvider, async ({ caller: { sessionId }, act }) => {
    const url = await oidc.logoutUrl(sessionId)
    await sessions.end(sessionId)
    await record(db, { kind: 'session.ended', ...by(act), data: { sessionId } })
    return { url }
  })
  app.register(async (forms) => {
    parseForms(forms)
    mount(forms, contract.backChannelLogout, ({ params, body, sourceIp }) =>
      counted(sourceIp, () => oidc.backChannelLogout(params.provider, body.logout_token, sourceIp)),
    )
  })
}
