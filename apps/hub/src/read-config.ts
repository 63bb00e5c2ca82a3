import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { emailAddress, HUB_DEFAULT_HTTPS_PORT, HUB_DEFAULT_PORT, username, VPN_LISTEN_PORT } from '@hedgerow/contract'
import { z } from 'zod'
import { ConfigError, type BackupTimes, type Config } from './config.ts'
import { engineOf } from './database/engine.ts'
import { readPostgresAddress } from './database/postgres-address.ts'
import { valuesOfVariables } from './notifications/channel-settings.ts'
import { providerVariables, readProviders } from './oidc/provider-settings.ts'
import { channelTypes } from './notifications/channels.ts'

const WEB_DIR = resolve(import.meta.dirname, '../../portal/dist')
const BACKUPS_KEPT = 7
const SITE_DIR = resolve(import.meta.dirname, '../../public/dist')

const port = (lowest: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((number) => number >= lowest && number <= 65_535, `must be between ${lowest} and 65535`)

const count = (lowest: number, highest: number) =>
  z
    .string()
    .regex(/^\d{1,7}$/, 'must be a number')
    .transform(Number)
    .refine((number) => number >= lowest && number <= highest, `must be between ${lowest} and ${highest}`)

const portOrOff = z.union([z.literal('off'), port(0)], {
  error: 'must be a port number or off',
})

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
  .transform((text) => new URL(text))
  .refine(
    (url) => url.pathname === '/' && !url.search && !url.hash && !url.username,
    'must have no path, query or sign-in',
  )
  .transform((url) => url.origin)

const hostName = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text),
    {
      error: 'must be a host name or an IP address',
    },
  )

const portRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'must be two port numbers, as in 8100-8199')
  .transform((text) => {
    const [first = 0, last = 0] = text.split('-').map(Number)
    return { first, last }
  })
  .refine(({ first, last }) => first >= 1 && first <= last && last <= 65_535, 'must run upwards between 1 and 65535')

const gatewayOrigin = z
  .string()
  .refine(
    (text) => /^https?:\/\/[a-z0-9-]*\{id\}[a-z0-9-]*\./.test(text) && text.split('{id}').length === 2,
    'must be an origin with {id} in the first label of its host, as in https://gw-{id}.example.net',
  )
  .refine(
    (text) => text.startsWith('https:') || /\.localhost(:\d+)?$/.test(text),
    'must be https: browsers keep its session cookie only there',
  )
  .refine(
    (text) =>
      URL.canParse(text.replace('{id}', 'abc')) &&
      new URL(text.replace('{id}', 'abc')).origin === text.replace('{id}', 'abc'),
    {
      error: 'must be an origin: scheme, host and port only, in lower case',
    },
  )

const networks = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .refine((entries) => entries.every(isNetwork), 'must be IP addresses or CIDR ranges, separated by commas')

const hosts = z
  .string()
  .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
  .refine(
    (names) => names.every((host) => /^[a-z0-9.-]+(:\d{1,5})?$/.test(host)),
    'must be host names, with their ports, separated by commas',
  )

const databaseUrl = z
  .string()
  .regex(/^(sqlite:.|postgres(ql)?:\/\/)/, 'must be sqlite:<file> or a postgres:// address')
  .superRefine((url, { addIssue }) => {
    try {
      if (engineOf(url) === 'postgres') readPostgresAddress(url)
    } catch (error) {
      addIssue((error as Error).message.replace('HUB_DATABASE_URL ', ''))
    }
  })

const backupTimes = z
  .string()
  .regex(/^(\d{1,3}|([01]\d|2[0-3]):[0-5]\d)$/, 'must be a number of hours or a time of day, as in 24 or 03:30')
  .transform((text): BackupTimes => {
    const [first = 0, minute] = text.split(':').map(Number)
    return minute === undefined ? { hours: first } : { at: { hour: first, minute } }
  })
  .refine((times) => 'at' in times || (times.hours >= 1 && times.hours <= 168), 'must be between 1 and 168 hours')

const adminName = z
  .string()
  .trim()
  .refine((text) => username.safeParse(text).success, 'must be 3 to 64 letters, digits and . _ - @ + of one script')
  .refine(
    (text) => !/^(hub|gateway)$/i.test(text),
    'must not be a name that the audit uses for the hub or for gateways',
  )

/** Each variable's name and form, as in docs/operations/configuration.md. An empty one counts as unset. */
export const variables = z.object({
  HUB_HOST: hostName.optional(),
  HUB_PORT: port(0).default(HUB_DEFAULT_PORT),
  HUB_HTTPS_PORT: portOrOff.default(HUB_DEFAULT_HTTPS_PORT),
  HUB_TLS_CERT_FILE: z.string().optional(),
  HUB_TLS_KEY_FILE: z.string().optional(),
  HUB_DATA_DIR: z.string().default('./data'),
  HUB_DATABASE_URL: databaseUrl.optional(),
  HUB_DISK_RESERVE_MB: z
    .string()
    .regex(/^\d{1,7}$/, 'must be a number of megabytes')
    .transform(Number)
    .optional(),
  HUB_BACKUP_DIR: z.string().optional(),
  HUB_BACKUP_EVERY: backupTimes.optional(),
  HUB_BACKUP_KEEP: count(1, 10_000).optional(),
  HUB_ADMIN_USERNAME: adminName.optional(),
  HUB_ADMIN_EMAIL: emailAddress.optional(),
  HUB_ADMIN_PASSWORD: z.string().min(8, 'must have at least 8 characters').max(1_024).optional(),
  HUB_VPN_BACKEND: z.enum(['auto', 'embedded', 'off'], 'must be auto, embedded or off').default('auto'),
  HUB_VPN_PORT: port(0).default(VPN_LISTEN_PORT),
  HUB_VPN_ENDPOINT_HOST: hostName.optional(),
  HUB_VPN_OFFLOAD: z.enum(['on', 'off'], 'must be on or off').default('on'),
  HUB_GATEWAY_PORTS: portRange.default({ first: 8100, last: 8199 }),
  HUB_GATEWAY_ORIGIN: gatewayOrigin.optional(),
  HUB_PUBLIC_URL: httpUrl.optional(),
  HUB_TRUSTED_PROXIES: networks.default([]),
  HUB_MAX_CONNECTIONS: count(16, 1_000_000).default(4096),
  HUB_MAX_CONNECTIONS_PER_ADDRESS: count(8, 1_000_000).default(512),
  HUB_CONTACT_EMAIL: emailAddress.optional(),
  ...(Object.fromEntries(
    channelTypes.flatMap(({ fields }) =>
      Object.values(fields).map(({ variable, schema }) => [variable, schema.optional()]),
    ),
  ) as object),
  ...providerVariables,
  HUB_LOCAL_SIGN_IN: z.enum(['on', 'off'], 'must be on or off').default('on'),
  HUB_PUSH_HOSTS: hosts.default([]),
  HUB_CHANNEL_HOSTS: hosts.default([]),
  HUB_VISION_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  HUB_VISION_KEY: z.string().max(1_024).optional(),
  HUB_VISION_MODEL: z.string().max(200).optional(),
  HUB_VISION_TIMEOUT_SECONDS: count(1, 100).default(30),
  HUB_VISION_AT_ONCE: count(1, 64).default(1),
  HUB_VISION_PICTURES_A_DAY: count(1, 9_999_999).default(2_000),
  HUB_VISION_PICTURES_A_DAY_EACH: count(1, 9_999_999).default(200),
  HUB_METRICS_PORT: port(0).optional(),
  HUB_METRICS_HOST: hostName.default('127.0.0.1'),
  HUB_METRICS_GATEWAYS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  HUB_METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').max(1_024).optional(),
  HUB_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .default('info'),
  HUB_LOG_AUDIT: z.enum(['on', 'off'], 'must be on or off').default('off'),
  HUB_WEB_DIR: z.string().default(WEB_DIR),
  HUB_SITE_DIR: z.string().default(SITE_DIR),
  HUB_DOWNLOADS_DIR: z.string().optional(),
  HUB_UPDATES_URL: z
    .url({ protocol: /^(https?|file)$/, error: 'must be an http://, https:// or file:// address' })
    .optional(),
  HUB_UPDATES_KEY: z
    .base64('must be the one line of root.pub')
    .length(44, 'must be the one line of root.pub')
    .optional(),
})

/** Reads the HUB_* variables; `HUB_X_FILE` names a file that holds HUB_X. Throws a `ConfigError`. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const values = readValues(environment, problems)
  const parsed = variables.safeParse(values)
  for (const issue of parsed.error?.issues ?? []) problems.push(`${String(issue.path[0])} ${issue.message}`)
  if (problems.length > 0 || !parsed.data) throw new ConfigError(problems)

  const found = parsed.data
  refuseEqualPorts(found)
  const dataDir = resolve(found.HUB_DATA_DIR)
  return {
    host: found.HUB_HOST,
    port: found.HUB_PORT,
    httpsPort: found.HUB_HTTPS_PORT === 'off' ? undefined : found.HUB_HTTPS_PORT,
    tlsFiles: tlsFiles(found.HUB_TLS_CERT_FILE, found.HUB_TLS_KEY_FILE),
    dataDir,
    diskReserveBytes: found.HUB_DISK_RESERVE_MB === undefined ? undefined : found.HUB_DISK_RESERVE_MB * 1_000_000,
    databaseUrl: found.HUB_DATABASE_URL ?? `sqlite:${resolve(dataDir, 'hub.sqlite')}`,
    backups: backups(found),
    admin: {
      username: found.HUB_ADMIN_USERNAME,
      email: found.HUB_ADMIN_EMAIL,
      password: found.HUB_ADMIN_PASSWORD,
    },
    vpn: {
      backend: found.HUB_VPN_BACKEND,
      port: found.HUB_VPN_PORT,
      endpointHost: found.HUB_VPN_ENDPOINT_HOST,
      offload: found.HUB_VPN_OFFLOAD === 'on',
    },
    gatewayUi: { ports: found.HUB_GATEWAY_PORTS, origin: found.HUB_GATEWAY_ORIGIN },
    publicUrl: found.HUB_PUBLIC_URL,
    trustedProxies: found.HUB_TRUSTED_PROXIES,
    connections: { total: found.HUB_MAX_CONNECTIONS, perAddress: found.HUB_MAX_CONNECTIONS_PER_ADDRESS },
    contactEmail: found.HUB_CONTACT_EMAIL,
    ...signIn(found),
    notifications: notifications(found),
    pushHosts: found.HUB_PUSH_HOSTS,
    channelHosts: found.HUB_CHANNEL_HOSTS,
    secondLook: secondLook(found),
    metrics: {
      port: found.HUB_METRICS_PORT,
      host: found.HUB_METRICS_HOST,
      token: found.HUB_METRICS_TOKEN,
      gateways: found.HUB_METRICS_GATEWAYS === 'on',
    },
    logLevel: found.HUB_LOG_LEVEL,
    logAudit: found.HUB_LOG_AUDIT === 'on',
    webDir: resolve(found.HUB_WEB_DIR),
    siteDir: resolve(found.HUB_SITE_DIR),
    downloadsDir: resolve(found.HUB_DOWNLOADS_DIR ?? resolve(dataDir, 'downloads')),
    updates: updates(found),
  }
}

function readValues(environment: Record<string, string | undefined>, problems: string[]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith('HUB_') || !text) continue
    // A few variables are paths themselves and have no `_FILE` form.
    const base = name in variables.shape ? name : name.replace(/_FILE$/, '')
    if (!(base in variables.shape)) {
      problems.push(`${name} is not a variable of the hub`)
    } else if (base === name) {
      values[name] = text
    } else if (environment[base]) {
      problems.push(`${base} and ${name} are both set: choose one`)
    } else {
      try {
        values[base] = readFileSync(text, 'utf8').replace(/\r?\n$/, '')
      } catch (error) {
        problems.push(`${name} names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
      }
    }
  }
  return values
}

/** Otherwise the hub finds a port in use that it has taken itself. */
function refuseEqualPorts(found: z.output<typeof variables>): void {
  const { HUB_HOST: host, HUB_METRICS_HOST: metricsHost } = found
  const servers = [
    { name: 'HUB_PORT', port: found.HUB_PORT, host },
    { name: 'HUB_HTTPS_PORT', port: found.HUB_HTTPS_PORT, host },
    { name: 'HUB_METRICS_PORT', port: found.HUB_METRICS_PORT, host: metricsHost },
  ]
  const isEvery = (address: string | undefined) => address === undefined || address === '::' || address === '0.0.0.0'
  for (const [index, one] of servers.entries()) {
    if (typeof one.port !== 'number' || one.port === 0) continue
    const other = servers
      .slice(0, index)
      .find(
        (before) => before.port === one.port && (before.host === one.host || isEvery(before.host) || isEvery(one.host)),
      )
    if (other)
      throw new ConfigError([`${one.name} and ${other.name} are both ${one.port}: give each a port of its own`])
  }
}

function tlsFiles(certFile: string | undefined, keyFile: string | undefined): Config['tlsFiles'] {
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined) throw new ConfigError(['HUB_TLS_CERT_FILE is not set, though HUB_TLS_KEY_FILE is'])
  if (keyFile === undefined) throw new ConfigError(['HUB_TLS_KEY_FILE is not set, though HUB_TLS_CERT_FILE is'])
  return { certFile: resolve(certFile), keyFile: resolve(keyFile) }
}

function backups(found: z.output<typeof variables>): Config['backups'] {
  const { HUB_BACKUP_DIR: dir, HUB_BACKUP_EVERY: times, HUB_BACKUP_KEEP: keep } = found
  if (dir !== undefined) return { dir: resolve(dir), times: times ?? { hours: 24 }, keep: keep ?? BACKUPS_KEPT }
  const name = times === undefined ? 'HUB_BACKUP_KEEP' : 'HUB_BACKUP_EVERY'
  if (times ?? keep) throw new ConfigError([`HUB_BACKUP_DIR is not set, though ${name} is`])
  return undefined
}

function updates({ HUB_UPDATES_URL: url, HUB_UPDATES_KEY: rootKey }: z.output<typeof variables>): Config['updates'] {
  if (url !== undefined) return { url, rootKey }
  if (rootKey !== undefined) throw new ConfigError(['HUB_UPDATES_URL is not set, though HUB_UPDATES_KEY is'])
  return undefined
}

function secondLook(found: z.output<typeof variables>): Config['secondLook'] {
  const { HUB_VISION_URL: url, HUB_VISION_MODEL: model } = found
  if (url === undefined && model === undefined && found.HUB_VISION_KEY === undefined) return undefined
  if (url === undefined || model === undefined)
    throw new ConfigError(['HUB_VISION_URL and HUB_VISION_MODEL are set together, or neither'])
  return {
    url,
    key: found.HUB_VISION_KEY,
    model,
    timeoutMs: found.HUB_VISION_TIMEOUT_SECONDS * 1_000,
    atOnce: found.HUB_VISION_AT_ONCE,
    inAll: found.HUB_VISION_PICTURES_A_DAY,
    perGateway: found.HUB_VISION_PICTURES_A_DAY_EACH,
  }
}

function signIn(found: z.output<typeof variables>): Pick<Config, 'providers' | 'localSignIn'> {
  const providers = readProviders(found, found.HUB_PUBLIC_URL)
  const localSignIn = found.HUB_LOCAL_SIGN_IN === 'on'
  if (!localSignIn && providers.length === 0)
    throw new ConfigError(['HUB_LOCAL_SIGN_IN is off, though no provider signs people in (HUB_OIDC_ISSUER)'])
  return { providers, localSignIn }
}

function notifications(found: Readonly<Record<string, unknown>>): Config['notifications'] {
  try {
    return Object.fromEntries(channelTypes.map((type) => [type.name, valuesOfVariables(type, found)]))
  } catch (error) {
    throw new ConfigError([(error as Error).message])
  }
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}
