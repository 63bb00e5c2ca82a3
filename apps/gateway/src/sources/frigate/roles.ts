import type { FrigateSettings } from './schema.ts'

/** Frigate reads this name, whatever its configuration says. */
const SECRET_HEADER = 'x-proxy-secret'

/** A person or the agent, as Frigate is told: `role` is one of Frigate's. */
type Identity = { user: string; role: string }

/**
 * Says to a Frigate that trusts this gateway as its proxy who asks. Nothing without `proxySecret`: without it anybody
 * could send the same headers, so Frigate must not be told to trust them.
 */
export function identityHeaders(
  { proxySecret, userHeader, roleHeader }: FrigateSettings,
  { user, role }: Identity,
): Record<string, string> {
  if (proxySecret === undefined) return {}
  return { [SECRET_HEADER]: proxySecret, [userHeader]: user, [roleHeader]: role }
}
