/** The page of help about each screen that has one, perhaps with a heading; by the screen's path, without its id. */
export const HELP_OF_SCREEN: Readonly<Record<string, string>> = {
  '/alert-rules': 'alerts',
  '/auto-approval-settings': 'dns',
  '/cameras': 'cameras',
  '/gateway-approvals': 'install-gateway#the-hubs-line',
  '/gateway-invitations': 'install-gateway#the-hubs-line',
  '/gateways': 'install-gateway',
  '/gateways/': 'gateway-problems',
  '/profile': 'security#accounts',
  '/proxy/gateway/': 'device-interface',
  '/settings': 'configuration',
  '/threats': 'learning',
  '/users': 'security#roles',
  '/versions': 'updates',
}

/** The address of the help about the screen at `path`; that of its first page for other screens. */
export function helpOf(path: string): string {
  // A screen of one thing ends with its id.
  const page = HELP_OF_SCREEN[path] ?? HELP_OF_SCREEN[path.slice(0, path.lastIndexOf('/') + 1)]
  return page === undefined ? '/help' : `/help/${page}`
}
