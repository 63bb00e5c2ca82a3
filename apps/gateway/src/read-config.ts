import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import { GATEWAY_PORT, gatewayName, oneLine } from '@hedgerow/contract'
import { isIP } from 'node:net'
import { cameraAddress } from './cameras/schema.ts'
import { COMMAND, ConfigError, type Config } from './config.ts'
import { parseFingerprint } from './hub/hub-trust.ts'

const USES = [
  ['[options]', 'joins a hub'],
  ['init [options]', 'writes a commented gateway.yaml, with the Frigate that it finds'],
  ['check [options]', 'says what is wrong in gateway.yaml'],
  ['cameras find --user U', 'searches for ONVIF cameras; CAMERA_PASSWORD has their password'],
  ['learning [options]', 'says what it learned from reviews'],
  ['learning run [options]', 'learns now'],
  ['learning undo CAMERA LABEL', 'goes back a version'],
  ['rules test --since 24h', 'says what the rules would have fired, and why not'],
  ['status [options]', 'asks the agent that runs on this device'],
  ['doctor [options]', 'looks for what is wrong on this device'],
  ['support FILE [options]', 'writes what helps to find a fault, without secrets, names or addresses'],
  ['back [options]', 'returns to the version before'],
  ['password [options]', "makes a new password for the device's own interface"],
  ['model add NAME | URL', 'adds a detection model (--from URL, --sha256 HEX, --accept-licence NAME)'],
  ['model list [options]', 'names the models of this device, and those that are known by name'],
  ['reset [--keys] [--yes]', "forgets the hub; with --keys the device's identity too"],
] as const
const USE_WIDTH = Math.max(...USES.map(([use]) => use.length)) + 2

export const HELP = `Usage: ${USES.map(([use, text]) => `${COMMAND} ${use.padEnd(USE_WIDTH)}${text}`).join('\n       ')}

  --hub URL          the hub, for example https://hub.example.net   GATEWAY_HUB_URL
  --name NAME        the name the hub shows (this host's name)      GATEWAY_NAME
  --location TEXT    where the device stands                        GATEWAY_LOCATION
  --data DIR         keys and waiting detections (./gateway-data)   GATEWAY_DATA_DIR
  --config FILE      what the device sees and does (DIR/gateway.yaml)  GATEWAY_CONFIG
  --camera URL       a camera that the gateway's eye looks at; may be repeated
  --port N           the device page (${GATEWAY_PORT})                         GATEWAY_PORT
  --help             this text
  --version          the version of this program

Only as variables:
  GATEWAY_HUB_DOMAIN        domain whose DNS names the hub (SRV _hedgerow._tcp.DOMAIN)
  GATEWAY_HUB_FINGERPRINT   the only hub to trust, 8 groups of 4 characters
  GATEWAY_HUB_CA_FILE       the CA of an https hub with a certificate of its own (PEM)
  GATEWAY_INVITATION_CODE   an invitation for this device
  GATEWAY_HOST              address the device page listens on (all)
  GATEWAY_UI_TARGET         an application of the device, for example https://127.0.0.1:8971, that the
                            hub's Connect opens; gateway.yaml can list several
  GATEWAY_UI_ON_LAN         on: it also answers to everybody in the device's network (off)
  GATEWAY_DNS_SERVERS       name servers to ask instead of the system's, comma separated
  GATEWAY_OFFLOAD           off: each datagram by a system call of its own, no native calls (on)
  GATEWAY_LOG_LEVEL         fatal, error, warn, info, debug, trace or silent (info)

Each variable but GATEWAY_HUB_CA_FILE may be given as NAME_FILE, the path of a file that holds the value.
`

const VARIABLES = [
  'GATEWAY_HUB_URL',
  'GATEWAY_HUB_DOMAIN',
  'GATEWAY_HUB_FINGERPRINT',
  'GATEWAY_NAME',
  'GATEWAY_LOCATION',
  'GATEWAY_DATA_DIR',
  'GATEWAY_CONFIG',
  'GATEWAY_PORT',
  'GATEWAY_HOST',
  'GATEWAY_UI_TARGET',
  'GATEWAY_UI_ON_LAN',
  'GATEWAY_DNS_SERVERS',
  'GATEWAY_INVITATION_CODE',
  'GATEWAY_OFFLOAD',
  'GATEWAY_LOG_LEVEL',
] as const
type Variable = (typeof VARIABLES)[number]
/** It is already a path, so it has no `_FILE` form. */
const CA_FILE = 'GATEWAY_HUB_CA_FILE'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Returns `help` when `--help` is given. Throws ConfigError. */
export function readConfig(args: string[], environment: NodeJS.ProcessEnv): Config | 'help' {
  const flags = readFlags(args)
  if (flags.help) return 'help'
  refuseUnknown(environment)

  /** The setting's name, for messages, and its text; undefined when it is not set. */
  function setting(
    variable: Variable,
    flag?: 'hub' | 'name' | 'location' | 'data' | 'config' | 'port',
  ): Setting | undefined {
    const given = flag === undefined ? undefined : flags[flag]
    if (given !== undefined) return { name: `--${flag}`, text: given }
    const text = readVariable(variable, environment)
    return text === undefined ? undefined : { name: variable, text }
  }

  return {
    hubUrl: optional(setting('GATEWAY_HUB_URL', 'hub'), readOrigin),
    hubDomain: optional(setting('GATEWAY_HUB_DOMAIN'), readDomain),
    hubFingerprint: optional(setting('GATEWAY_HUB_FINGERPRINT'), readFingerprint),
    hubCaFile: environment[CA_FILE] || undefined,
    name: optional(setting('GATEWAY_NAME', 'name'), (given) => readLine(given, gatewayName)) ?? hostname(),
    location: optional(setting('GATEWAY_LOCATION', 'location'), (given) => readLine(given, oneLine(200))) ?? '',
    dataDir: setting('GATEWAY_DATA_DIR', 'data')?.text ?? './gateway-data',
    configFile: setting('GATEWAY_CONFIG', 'config')?.text,
    cameras: (flags.camera ?? []).map(readCamera),
    host: optional(setting('GATEWAY_HOST'), readAddress) ?? '::',
    port: optional(setting('GATEWAY_PORT', 'port'), readPort) ?? GATEWAY_PORT,
    uiTarget: optional(setting('GATEWAY_UI_TARGET'), readOrigin),
    uiOnLan: optional(setting('GATEWAY_UI_ON_LAN'), readSwitch) ?? false,
    dnsServers: optional(setting('GATEWAY_DNS_SERVERS'), readServers) ?? [],
    invitationCode: optional(setting('GATEWAY_INVITATION_CODE'), readInvitationCode),
    offload: optional(setting('GATEWAY_OFFLOAD'), readSwitch) ?? true,
    logLevel: optional(setting('GATEWAY_LOG_LEVEL'), readLogLevel) ?? 'info',
  }
}

type Setting = { name: string; text: string }

function optional<T>(setting: Setting | undefined, read: (setting: Setting) => T): T | undefined {
  return setting === undefined ? undefined : read(setting)
}

function readFlags(args: string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args,
      options: {
        hub: text,
        name: text,
        location: text,
        data: text,
        config: text,
        camera: { type: 'string', multiple: true },
        port: text,
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error))
  }
}

function refuseUnknown(environment: NodeJS.ProcessEnv): void {
  const variables = new Set<string>([CA_FILE, ...VARIABLES.flatMap((name) => [name, `${name}_FILE`])])
  const unknown = Object.keys(environment).find((name) => name.startsWith('GATEWAY_') && !variables.has(name))
  if (unknown !== undefined) throw new ConfigError(`${unknown} is not a setting of the gateway`)
}

/** An empty variable counts as not set. */
function readVariable(name: Variable, environment: NodeJS.ProcessEnv): string | undefined {
  const value = environment[name] || undefined
  const path = environment[`${name}_FILE`] || undefined
  if (path === undefined) return value
  if (value !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set`)
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new ConfigError(`${name}_FILE: the file cannot be read`)
  }
}

function readOrigin({ name, text }: Setting): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new ConfigError(`${name} must be an http:// or https:// address`)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new ConfigError(`${name} must be a host and port only, without a path or a password`)
  return url
}

function readCamera(given: string): string {
  const parsed = cameraAddress.safeParse(given)
  if (!parsed.success) throw new ConfigError(`--camera: ${parsed.error.issues[0]!.message}`)
  return parsed.data
}

function readDomain({ name, text }: Setting): string {
  const domain = text.replace(/\.$/, '').toLowerCase()
  if (domain.length > 230 || !/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(domain))
    throw new ConfigError(`${name} is not a domain name`)
  return domain
}

function readFingerprint({ name, text }: Setting): string {
  const pin = parseFingerprint(text)
  if (!pin) throw new ConfigError(`${name} must be 8 groups of 4 characters (A to Z, 2 to 7)`)
  return pin
}

function readLine({ name, text }: Setting, schema: ReturnType<typeof oneLine>): string {
  const parsed = schema.safeParse(text)
  if (!parsed.success) throw new ConfigError(`${name}: ${parsed.error.issues[0]!.message}`)
  return parsed.data
}

function readPort({ name, text }: Setting): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new ConfigError(`${name} must be a port from 0 to 65535`)
  return port
}

function readAddress({ name, text }: Setting): string {
  if (isIP(text) === 0) throw new ConfigError(`${name} must be an IP address`)
  return text
}

function readServers({ name, text }: Setting): string[] {
  const servers = text.split(',').map((server) => server.trim())
  for (const server of servers) {
    const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?)$/.exec(server) ?? []
    if (isIP(bracketed ?? '') !== 6 && isIP(plain ?? '') !== 4 && isIP(server) === 0)
      throw new ConfigError(`${name} must be IP addresses, each with or without :port, comma separated`)
  }
  return servers
}

function readInvitationCode({ name, text }: Setting): string {
  if (text.length > 100) throw new ConfigError(`${name} is longer than 100 characters`)
  return text
}

function readSwitch({ name, text }: Setting): boolean {
  if (text !== 'on' && text !== 'off') throw new ConfigError(`${name} must be on or off`)
  return text === 'on'
}

function readLogLevel({ name, text }: Setting): string {
  if (!LOG_LEVELS.includes(text)) throw new ConfigError(`${name} must be one of ${LOG_LEVELS.join(', ')}`)
  return text
}
