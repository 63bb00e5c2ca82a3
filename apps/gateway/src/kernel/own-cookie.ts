/** The prefix of this device's session cookies, which no application sees. */
export const OWN_COOKIE_PREFIX = 'hedgerow-'

/** Whether a `name=value` pair is a session of this device's own interface. */
export function isOwnCookie(pair: string): boolean {
  return pair.replace('__Host-', '').startsWith(OWN_COOKIE_PREFIX)
}
