import type { Role } from '@hedgerow/contract'
import type { Endpoint } from '@hedgerow/second-look'

/** A configuration that prevents the start: each message names the variable. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
  }
}

/** The hub's configuration, which `read-config.ts` reads from the environment. */
export type Config = {
  /** When unset, every IPv6 and IPv4 address, or every IPv4 address where there is no IPv6. */
  host: string | undefined
  /** 0 takes a free port. */
  port: number
  /** When unset, no HTTPS. 0 takes a free port. */
  httpsPort: number | undefined
  /** The operator's own certificate, with its chain, and key. */
  tlsFiles: { certFile: string; keyFile: string } | undefined
  dataDir: string
  /** Bytes of the disk that gateways may not fill; undefined for the default. */
  diskReserveBytes: number | undefined
  databaseUrl: string
  /** Where backups go, when, and how many are kept; undefined for none. */
  backups: { dir: string; times: BackupTimes; keep: number } | undefined
  admin: { username: string | undefined; email: string | undefined; password: string | undefined }
  vpn: { backend: 'auto' | 'embedded' | 'off'; port: number; endpointHost: string | undefined; offload: boolean }
  gatewayUi: { ports: { first: number; last: number }; origin: string | undefined }
  publicUrl: string | undefined
  trustedProxies: string[]
  /** How many connections may be open at once, over all listeners. */
  connections: { total: number; perAddress: number }
  /** The contact for visitors of the beta page; undefined for the first administrator's address. */
  contactEmail: string | undefined
  /** Where people sign in by OpenID Connect. */
  providers: ProviderSettings[]
  /** False: the hub accepts no passwords. */
  localSignIn: boolean
  /** Notification channels, by their names: the values of the variables that are set, by the names of their fields. */
  notifications: Readonly<Record<string, Readonly<Record<string, string | undefined>> | undefined>>
  /** Push services outside the Internet, each a name and its port unless that is 443. */
  pushHosts: string[]
  /** The same for the servers of channels that are set up in the portal. */
  channelHosts: string[]
  /** The vision endpoint for the fleet's second looks; undefined when there is none. */
  secondLook: SecondLookConfig | undefined
  /**
   * When `port` is set, metrics have a port of their own; otherwise the hub's port serves them to holders of the token.
   */
  metrics: { port: number | undefined; host: string; token: string | undefined; gateways: boolean }
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** When true, every audit entry is also a log line, at any log level. */
  logAudit: boolean
  webDir: string
  siteDir: string
  /** The release that devices install from. */
  downloadsDir: string
  /** Where to look for newer versions of the hub, and who signs release keys there; undefined when it does not look. */
  updates: { url: string; rootKey: string | undefined } | undefined
}

/** Every so many hours, or every day at a time of this machine's clock. */
export type BackupTimes = { hours: number } | { at: { hour: number; minute: number } }

/** The vision endpoint and its limits. */
export type SecondLookConfig = Endpoint & {
  /** The longest time for one question, and for its wait in the queue. */
  timeoutMs: number
  /** Pictures a day. */
  perGateway: number
  inAll: number
  /** Questions that the endpoint gets at the same time. */
  atOnce: number
}

/** A server where people sign in. */
export type ProviderSettings = {
  /** In addresses that the provider knows. */
  id: string
  issuer: string
  clientId: string
  clientSecret: string | undefined
  /** On the button. */
  name: string
  scopes: string
  /** The claim that lists a person's groups. */
  groupsClaim: string
  /** The role of each group, `*` for everybody there; none when the hub alone decides. */
  roles: readonly { group: string; role: Role }[]
}
