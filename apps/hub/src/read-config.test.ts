import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError } from './config.ts'
import { readConfig, variables } from './read-config.ts'

test('an empty environment gives a hub in ./data on port 8080', () => {
  expect(readConfig({ PATH: '/bin', HUB_LOG_LEVEL: '' })).toMatchObject({
    host: undefined,
    port: 8080,
    httpsPort: 8443,
    tlsFiles: undefined,
    dataDir: resolve('data'),
    databaseUrl: `sqlite:${resolve('data/hub.sqlite')}`,
    vpn: { backend: 'auto', port: 51820, endpointHost: undefined, offload: true },
    gatewayUi: { ports: { first: 8100, last: 8199 }, origin: undefined },
    trustedProxies: [],
    logLevel: 'info',
  })
})

test('each variable is read', () => {
  expect(
    readConfig({
      HUB_HOST: '127.0.0.1',
      HUB_PORT: '0',
      HUB_DATABASE_URL: 'postgres://hub@db/hub',
      HUB_VPN_BACKEND: 'off',
      HUB_VPN_ENDPOINT_HOST: 'hub.example.net',
      HUB_VPN_OFFLOAD: 'off',
      HUB_GATEWAY_PORTS: '9000-9009',
      HUB_GATEWAY_ORIGIN: 'https://gw-{id}.example.net',
      HUB_PUBLIC_URL: 'https://hub.example.net/',
      HUB_TRUSTED_PROXIES: '10.0.0.1, fd00::/8',
      HUB_CONTACT_EMAIL: 'beta@example.net',
    }),
  ).toMatchObject({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: 'postgres://hub@db/hub',
    vpn: { backend: 'off', endpointHost: 'hub.example.net', offload: false },
    gatewayUi: { ports: { first: 9000, last: 9009 }, origin: 'https://gw-{id}.example.net' },
    publicUrl: 'https://hub.example.net',
    trustedProxies: ['10.0.0.1', 'fd00::/8'],
    contactEmail: 'beta@example.net',
  })
})

test.each([
  ['HUB_PORT', 'eighty'],
  ['HUB_PORT', '65536'],
  ['HUB_PORT', '-1'],
  ['HUB_PORT', '0x50'],
  ['HUB_HOST', 'http://localhost'],
  ['HUB_VPN_PORT', '1e3'],
  ['HUB_VPN_BACKEND', 'carrier-pigeon'],
  ['HUB_VPN_OFFLOAD', 'perhaps'],
  ['HUB_VPN_ENDPOINT_HOST', 'hub.example.net:51820'],
  ['HUB_GATEWAY_PORTS', '8199-8100'],
  ['HUB_GATEWAY_PORTS', '9000'],
  ['HUB_GATEWAY_ORIGIN', 'https://gateways.example.net'],
  ['HUB_GATEWAY_ORIGIN', 'https://gw-{id}.example.net/path'],
  ['HUB_MQTT_URL', 'mqtts://hub:secret@broker.example.net'],
  ['HUB_MQTT_TOPIC', 'farm/#'],
  ['HUB_GATEWAY_ORIGIN', 'ftp://gw-{id}.example.net'],
  ['HUB_GATEWAY_ORIGIN', 'http://gw-{id}.example.net'],
  ['HUB_GATEWAY_ORIGIN', 'https://gateways.{id}.example.net'],
  ['HUB_PUBLIC_URL', 'hub.example.net'],
  ['HUB_PUBLIC_URL', 'https://hub.example.net/portal'],
  ['HUB_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['HUB_TRUSTED_PROXIES', '010.0.0.1'],
  ['HUB_TRUSTED_PROXIES', '10.0.0.1,'],
  ['HUB_ADMIN_EMAIL', 'rosa at example'],
  ['HUB_CONTACT_EMAIL', 'beta at example'],
  ['HUB_CONTACT_EMAIL', 'beta@example.net?cc=all@example.net'],
  ['HUB_DATABASE_URL', 'mysql://localhost/hub'],
  ['HUB_LOG_LEVEL', 'loud'],
  ['HUB_ADMIN_PASSWORD', 'short'],
  ['HUB_ADMIN_USERNAME', 'ab'],
  ['HUB_ADMIN_USERNAME', 'rosa the first'],
  ['HUB_ADMIN_USERNAME', 'Hub'],
  ['HUB_PROT', '8080'],
  ['HUB_HTTPS_PORT', 'on'],
  ['HUB_OIDC_ISSUER', 'http://id.example.net'],
  ['HUB_OIDC_ISSUER', 'https://id.example.net?realm=farm'],
  ['HUB_OIDC_ROLES', 'guards=owner'],
  ['HUB_OIDC_SECOND_ROLES', 'everybody'],
  ['HUB_LOCAL_SIGN_IN', 'never'],
  ['HUB_TLS_CERT', '/etc/tls.crt'],
  ['HUB_TLS_KEY_FILE_FILE', '/etc/tls.key'],
])('%s=%s is refused by name, without its value', (name, value) => {
  const read = () => readConfig({ [name]: value })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(new RegExp(`^${name} `))
  expect(read).not.toThrow(value)
})

test('a provider needs its client, the hub’s address, and a way in when passwords are off', () => {
  const issuer = { HUB_OIDC_ISSUER: 'https://id.example.net' }
  expect(() => readConfig(issuer)).toThrow(/^HUB_OIDC_CLIENT_ID is not set/)
  expect(() => readConfig({ ...issuer, HUB_OIDC_CLIENT_ID: 'hub' })).toThrow(/^HUB_PUBLIC_URL is not set/)
  expect(() => readConfig({ HUB_OIDC_THIRD_NAME: 'the farm' })).toThrow(/^HUB_OIDC_THIRD_ISSUER is not set/)
  expect(() => readConfig({ HUB_LOCAL_SIGN_IN: 'off' })).toThrow(/^HUB_LOCAL_SIGN_IN is off, though no provider/)
})

test('all problems are reported at once', () => {
  expect(() => readConfig({ HUB_PORT: 'x', HUB_VPN_PORT: 'y' })).toThrow(/^HUB_PORT .+\nHUB_VPN_PORT /)
})

test('a value may come from a file, but not from both places', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hub-config-'))
  try {
    const file = join(dir, 'password')
    writeFileSync(file, 'from a file\n')
    expect(readConfig({ HUB_ADMIN_PASSWORD_FILE: file }).admin.password).toBe('from a file')
    expect(() => readConfig({ HUB_ADMIN_PASSWORD_FILE: file, HUB_ADMIN_PASSWORD: 'from the shell' })).toThrow(
      'HUB_ADMIN_PASSWORD and HUB_ADMIN_PASSWORD_FILE',
    )
    expect(() => readConfig({ HUB_ADMIN_PASSWORD_FILE: join(dir, 'missing') })).toThrow(
      /^HUB_ADMIN_PASSWORD_FILE .*ENOENT/,
    )
    expect(() => readConfig({ HUB_NONSENSE_FILE: file })).toThrow(/^HUB_NONSENSE_FILE /)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

/** A valid value of each variable that differs from its default. */
const VALUES: Readonly<Record<string, string>> = {
  HUB_VISION_URL: 'http://127.0.0.1:11434',
  HUB_VISION_KEY: 'a-key',
  HUB_VISION_MODEL: 'eyes',
  HUB_VISION_TIMEOUT_SECONDS: '20',
  HUB_VISION_AT_ONCE: '2',
  HUB_VISION_PICTURES_A_DAY: '100',
  HUB_VISION_PICTURES_A_DAY_EACH: '10',
  HUB_HOST: '127.0.0.2',
  HUB_PORT: '8081',
  HUB_HTTPS_PORT: '8444',
  HUB_DATA_DIR: '/srv/hub',
  HUB_DATABASE_URL: 'postgres://hub@db/hub',
  HUB_DISK_RESERVE_MB: '500',
  HUB_BACKUP_DIR: '/srv/backup',
  HUB_BACKUP_EVERY: '03:30',
  HUB_BACKUP_KEEP: '14',
  HUB_ADMIN_USERNAME: 'rosa',
  HUB_ADMIN_EMAIL: 'rosa@example.net',
  HUB_ADMIN_PASSWORD: 'orchard-lantern-42',
  HUB_VPN_BACKEND: 'off',
  HUB_VPN_PORT: '51821',
  HUB_VPN_ENDPOINT_HOST: 'hub.example.net',
  HUB_VPN_OFFLOAD: 'off',
  HUB_GATEWAY_PORTS: '9000-9009',
  HUB_GATEWAY_ORIGIN: 'https://gw-{id}.example.net',
  HUB_PUBLIC_URL: 'https://hub.example.net',
  HUB_TRUSTED_PROXIES: '10.0.0.1',
  HUB_MAX_CONNECTIONS: '2000',
  HUB_MAX_CONNECTIONS_PER_ADDRESS: '200',
  HUB_CONTACT_EMAIL: 'beta@example.net',
  HUB_LOCAL_SIGN_IN: 'off',
  ...Object.fromEntries(
    ['HUB_OIDC', 'HUB_OIDC_SECOND', 'HUB_OIDC_THIRD'].flatMap((prefix) => [
      [`${prefix}_ISSUER`, 'https://id.example.net/realms/farm'],
      [`${prefix}_CLIENT_ID`, 'hub'],
      [`${prefix}_CLIENT_SECRET`, 'a secret'],
      [`${prefix}_NAME`, 'the farm'],
      [`${prefix}_SCOPES`, 'openid'],
      [`${prefix}_GROUPS_CLAIM`, 'roles'],
      [`${prefix}_ROLES`, 'guards=manager; cn=masters,dc=farm=admin'],
    ]),
  ),
  HUB_SMTP_URL: 'smtp://mail.example.net:587',
  HUB_SMTP_FROM: 'hub@example.net',
  HUB_SMTP_USERNAME: 'hub',
  HUB_SMTP_PASSWORD: 'a password',
  HUB_CHANNEL_HOSTS: 'ntfy.example.lan:8080',
  HUB_WEBHOOK_URL: 'https://example.net/hook',
  HUB_WEBHOOK_SECRET: 'sixteen characters',
  HUB_NTFY_URL: 'https://ntfy.example.net/topic',
  HUB_NTFY_TOKEN: 'tk_secret',
  HUB_TELEGRAM_TOKEN: '123456:ABC-DEF_ghijkl',
  HUB_TELEGRAM_CHAT: '-100200300',
  HUB_TELEGRAM_URL: 'https://telegram.example.net',
  HUB_PUSHOVER_TOKEN: 'abcdefghijklmnopqrstuvwxyz',
  HUB_PUSHOVER_USER: 'abcdefghijklmnopqrstuvwxyz',
  HUB_PUSHOVER_EMERGENCY: 'on',
  HUB_PUSH_HOSTS: 'push.example.lan:8443',
  HUB_PUSHOVER_URL: 'https://pushover.example.net',
  HUB_MQTT_URL: 'mqtts://broker.example.net',
  HUB_MQTT_USERNAME: 'hub',
  HUB_MQTT_PASSWORD: 'a password',
  HUB_MQTT_CA: '-----BEGIN CERTIFICATE-----',
  HUB_MQTT_TOPIC: 'farm/hub',
  HUB_MQTT_DISCOVERY: 'home',
  HUB_METRICS_PORT: '9100',
  HUB_METRICS_HOST: '127.0.0.3',
  HUB_METRICS_TOKEN: 'sixteen characters too',
  HUB_LOG_LEVEL: 'warn',
  HUB_LOG_AUDIT: 'on',
  HUB_METRICS_GATEWAYS: 'off',
  HUB_WEB_DIR: '/srv/web',
  HUB_SITE_DIR: '/srv/site',
  HUB_DOWNLOADS_DIR: '/srv/release',
  HUB_UPDATES_URL: 'https://releases.example.net/hedgerow',
  HUB_UPDATES_KEY: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
}

test('every variable but the paths of TLS has such a value', () => {
  const paths = ['HUB_TLS_CERT_FILE', 'HUB_TLS_KEY_FILE']
  expect([...Object.keys(VALUES), ...paths].toSorted()).toEqual(Object.keys(variables.shape).toSorted())
})

/** Variables that must be set together. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  HUB_VISION_URL: ['HUB_VISION_MODEL'],
  HUB_VISION_MODEL: ['HUB_VISION_URL'],
  HUB_VISION_KEY: ['HUB_VISION_URL', 'HUB_VISION_MODEL'],
  HUB_VISION_TIMEOUT_SECONDS: ['HUB_VISION_URL', 'HUB_VISION_MODEL'],
  HUB_VISION_AT_ONCE: ['HUB_VISION_URL', 'HUB_VISION_MODEL'],
  HUB_VISION_PICTURES_A_DAY: ['HUB_VISION_URL', 'HUB_VISION_MODEL'],
  HUB_VISION_PICTURES_A_DAY_EACH: ['HUB_VISION_URL', 'HUB_VISION_MODEL'],
  HUB_LOCAL_SIGN_IN: ['HUB_OIDC_ISSUER', 'HUB_OIDC_CLIENT_ID', 'HUB_PUBLIC_URL'],
  ...Object.fromEntries(
    ['HUB_OIDC', 'HUB_OIDC_SECOND', 'HUB_OIDC_THIRD'].flatMap((prefix) =>
      ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'NAME', 'SCOPES', 'GROUPS_CLAIM', 'ROLES'].map((name) => [
        `${prefix}_${name}`,
        ['HUB_PUBLIC_URL', `${prefix}_ISSUER`, `${prefix}_CLIENT_ID`].filter((other) => other !== `${prefix}_${name}`),
      ]),
    ),
  ),
  HUB_SMTP_URL: ['HUB_SMTP_FROM'],
  HUB_SMTP_FROM: ['HUB_SMTP_URL'],
  HUB_WEBHOOK_URL: ['HUB_WEBHOOK_SECRET'],
  HUB_WEBHOOK_SECRET: ['HUB_WEBHOOK_URL'],
  HUB_NTFY_TOKEN: ['HUB_NTFY_URL'],
  HUB_TELEGRAM_TOKEN: ['HUB_TELEGRAM_CHAT'],
  HUB_TELEGRAM_CHAT: ['HUB_TELEGRAM_TOKEN'],
  HUB_TELEGRAM_URL: ['HUB_TELEGRAM_TOKEN', 'HUB_TELEGRAM_CHAT'],
  HUB_PUSHOVER_TOKEN: ['HUB_PUSHOVER_USER'],
  HUB_PUSHOVER_USER: ['HUB_PUSHOVER_TOKEN'],
  HUB_PUSHOVER_EMERGENCY: ['HUB_PUSHOVER_TOKEN', 'HUB_PUSHOVER_USER'],
  HUB_PUSHOVER_URL: ['HUB_PUSHOVER_TOKEN', 'HUB_PUSHOVER_USER'],
  HUB_BACKUP_EVERY: ['HUB_BACKUP_DIR'],
  HUB_BACKUP_KEEP: ['HUB_BACKUP_DIR'],
  HUB_UPDATES_KEY: ['HUB_UPDATES_URL'],
  HUB_MQTT_USERNAME: ['HUB_MQTT_URL'],
  HUB_MQTT_PASSWORD: ['HUB_MQTT_URL'],
  HUB_MQTT_CA: ['HUB_MQTT_URL'],
  HUB_MQTT_TOPIC: ['HUB_MQTT_URL'],
  HUB_MQTT_DISCOVERY: ['HUB_MQTT_URL'],
}

test.each(Object.entries(VALUES))('%s changes the configuration, also from a file', (name, value) => {
  const companions = Object.fromEntries((COMPANIONS[name] ?? []).map((other) => [other, VALUES[other]]))
  const dir = mkdtempSync(join(tmpdir(), 'hub-config-'))
  try {
    const file = join(dir, 'value')
    writeFileSync(file, `${value}\n`)
    const set = readConfig({ ...companions, [name]: value })
    expect(set).not.toEqual(readConfig({}))
    expect(readConfig({ ...companions, [`${name}_FILE`]: file })).toEqual(set)
    expect(() => readConfig({ [`${name}_FILE`]: join(dir, 'missing') })).toThrow(new RegExp(`^${name}_FILE .*ENOENT`))
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('a value from a file loses only its last line break', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hub-config-'))
  try {
    const file = join(dir, 'password')
    writeFileSync(file, ' with spaces around \r\n')
    expect(readConfig({ HUB_ADMIN_PASSWORD_FILE: file }).admin.password).toBe(' with spaces around ')
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('HTTPS can be switched off, and the files of TLS are paths, not values', () => {
  const tls = readConfig({ HUB_HTTPS_PORT: 'off', HUB_TLS_CERT_FILE: '/etc/tls.crt', HUB_TLS_KEY_FILE: '/etc/tls.key' })
  expect(tls).toMatchObject({
    httpsPort: undefined,
    tlsFiles: { certFile: '/etc/tls.crt', keyFile: '/etc/tls.key' },
  })
  expect(() => readConfig({ HUB_TLS_CERT_FILE: '/etc/tls.crt' })).toThrow(/^HUB_TLS_KEY_FILE is not set/)
  expect(() => readConfig({ HUB_TLS_KEY_FILE: '/etc/tls.key' })).toThrow(/^HUB_TLS_CERT_FILE is not set/)
})

test('two servers of the hub do not share a port, and the error names both variables', () => {
  const twice = (variables: Record<string, string>) => () => readConfig(variables)
  expect(twice({ HUB_PORT: '29190', HUB_METRICS_PORT: '29190' })).toThrow(
    /^HUB_METRICS_PORT and HUB_PORT are both 29190/,
  )
  expect(twice({ HUB_PORT: '29190', HUB_HTTPS_PORT: '29190' })).toThrow(/^HUB_HTTPS_PORT and HUB_PORT are both 29190/)
  expect(twice({ HUB_HTTPS_PORT: '29190', HUB_METRICS_PORT: '29190' })).toThrow(/^HUB_METRICS_PORT and HUB_HTTPS_PORT/)
  expect(twice({ HUB_PORT: '0', HUB_HTTPS_PORT: '0', HUB_METRICS_PORT: '0' })).not.toThrow()
  expect(twice({ HUB_PORT: '29190', HUB_METRICS_PORT: '29190', HUB_HOST: '192.0.2.1' })).not.toThrow()
  expect(twice({ HUB_PORT: '29190', HUB_VPN_PORT: '29190' }), 'UDP').not.toThrow()
})

test('the default folders of pages are those of the builds', () => {
  const { webDir, siteDir } = readConfig({})
  for (const folder of [webDir, siteDir]) expect(existsSync(join(folder, '../package.json')), folder).toBe(true)
})
