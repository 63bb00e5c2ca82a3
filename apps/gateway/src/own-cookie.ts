/** The names of this device's session cookies begin with it: no application sees them. */
export const OWN_COOKIE_PREFIX = 'hedgerow-'

/** Whether a `name=value` pair is a session of this device's own interface. */
export function isOwnCookie(pair: string): boolean {
  return pair.replace('__Host-', '').startsWith(OWN_COOKIE_PREFIX)
}
