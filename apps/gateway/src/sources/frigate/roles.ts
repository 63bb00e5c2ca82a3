import { hubRole, type TrustingApplication } from '../../trusting-application.ts'
import { openFrigateTls } from './connection.ts'
import type { FrigateSettings } from './schema.ts'

/** Frigate reads the secret under this name, whatever its configuration says. */
const SECRET_HEADER = 'x-proxy-secret'

/** A person or the agent, for Frigate: `role` is one of Frigate's. */
type Identity = { user: string; role: string }

/**
 * The headers that name the caller to a Frigate that trusts this gateway as its proxy. Empty without `proxySecret`:
 * anybody could send the same headers, so Frigate must not trust them.
 */
export function identityHeaders(
  { proxySecret, userHeader, roleHeader }: FrigateSettings,
  { user, role }: Identity,
): Record<string, string> {
  if (proxySecret === undefined) return {}
  return { [SECRET_HEADER]: proxySecret, [userHeader]: user, [roleHeader]: role }
}

/**
 * Frigate's own interface at `target`, as Connect shows it: the hub's roles become Frigate's. Undefined for any other
 * application, which must never see the secret.
 */
export function frigateInterface(settings: FrigateSettings | undefined, target: URL): TrustingApplication | undefined {
  if (!settings || !isFrigate(settings, target)) return undefined
  return {
    ownHeaders: [SECRET_HEADER, settings.userHeader, settings.roleHeader],
    headersFor: ({ user, role }) => identityHeaders(settings, { user, role: settings.roles[hubRole(role)] }),
    ...(target.protocol === 'https:' && { connect: (signal) => openFrigateTls(target, settings, signal) }),
  }
}

/** Whether `target` is the Frigate of gateway.yaml, at either of its addresses. */
export function isFrigate(settings: FrigateSettings, target: URL): boolean {
  return [settings.url, settings.interface].some((url) => url !== undefined && new URL(url).origin === target.origin)
}
