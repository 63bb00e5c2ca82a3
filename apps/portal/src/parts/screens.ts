/**
 * Every screen of the portal, once. The routes, the bar, the palette, the links to help and the tests of all screens
 * read this list; `routes.tsx` adds what each loads.
 */
type ScreenDefinition = {
  path: `/${string}`
  /** Its name in the bar and the palette; a screen about one thing has none. */
  title?: string
  /** Other words that people type for it, without hyphens. */
  words?: string
  /** Its page of help, perhaps with a heading. */
  help?: string
  /** The screen of the bar that leads to it; its own path for a screen of the bar. */
  bar?: `/${string}`
}

export const screens = [
  { path: '/dashboard', title: 'Dashboard', words: 'home overview start statistics', bar: '/dashboard' },
  {
    path: '/threats',
    title: 'Threats',
    words: 'incidents detections alarms events pictures snapshots clips export',
    help: 'learning',
    bar: '/threats',
  },
  {
    path: '/cameras',
    title: 'Cameras',
    words: 'pictures wall live video streams full screen',
    help: 'cameras',
    bar: '/threats',
  },
  {
    path: '/alert-rules',
    title: 'Alert rules',
    words: 'alarms notifications channels messages escalation email mail ntfy telegram pushover webhook sms',
    help: 'alerts',
    bar: '/threats',
  },
  {
    path: '/gateways',
    title: 'Gateways',
    words: 'devices fleet tags map connect',
    help: 'install-gateway',
    bar: '/gateways',
  },
  { path: '/add-gateway', help: 'install-gateway', bar: '/gateways' },
  { path: '/gateway-labels', help: 'install-gateway#labels-for-many', bar: '/gateways' },
  { path: '/gateways/:id', help: 'gateway-problems', bar: '/gateways' },
  {
    path: '/sites',
    title: 'Sites',
    words: 'places locations time zones coordinates plot map',
    help: 'sites',
    bar: '/gateways',
  },
  { path: '/versions', title: 'Versions', words: 'updates upgrades releases firmware rollout', help: 'updates' },
  {
    path: '/gateway-approvals',
    title: 'Approvals',
    words: 'approve reject pending requests registrations fingerprint',
    help: 'install-gateway#the-hubs-line',
    bar: '/gateway-approvals',
  },
  {
    path: '/gateway-invitations',
    title: 'Gateway invitations',
    words: 'invite codes',
    help: 'install-gateway#the-hubs-line',
    bar: '/gateway-approvals',
  },
  {
    path: '/auto-approval-settings',
    title: 'Auto-approval settings',
    words: 'approve automatically trusted networks whitelist allowed addresses',
    help: 'dns',
    bar: '/gateway-approvals',
  },
  {
    path: '/users',
    title: 'Users',
    words: 'people accounts members roles permissions admins managers',
    help: 'security#roles',
    bar: '/users',
  },
  {
    path: '/settings',
    title: 'Settings',
    words: 'configuration options preferences',
    help: 'configuration',
    bar: '/settings',
  },
  { path: '/profile', title: 'Profile', words: 'account name email language', help: 'security#accounts' },
  { path: '/help', title: 'Help', words: 'documentation manual docs support' },
  { path: '/help/:page' },
  { path: '/proxy/gateway/:id', help: 'device-interface' },
] as const satisfies readonly ScreenDefinition[]

export type ScreenPath = (typeof screens)[number]['path']

const all: readonly ScreenDefinition[] = screens

/** The screens of the bar, in its order. */
export const barScreens = all.filter(({ path, bar }) => bar === path)

/** The screen at `pathname`; undefined for other addresses. */
export const screenAt = (pathname: string): ScreenDefinition | undefined =>
  all.find(({ path }) => path === pathname) ??
  // A screen about one thing ends with its id.
  all.find(({ path }) => path.replace(/:\w+$/, '') === pathname.slice(0, pathname.lastIndexOf('/') + 1))
