import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Config } from './config.ts'
import { HELP, readConfig } from './read-config.ts'

const read = (args: string[], environment: NodeJS.ProcessEnv = {}) => readConfig(args, environment) as Config

describe('settings of the agent', () => {
  test('have defaults that a device can run with', () => {
    expect(read([])).toEqual({
      hubUrl: undefined,
      hubDomain: undefined,
      hubFingerprint: undefined,
      name: hostname(),
      location: '',
      dataDir: './gateway-data',
      cameras: [],
      host: '::',
      port: 8080,
      uiTarget: undefined,
      uiOnLan: false,
      dnsServers: [],
      invitationCode: undefined,
      offload: true,
      logLevel: 'info',
    })
  })

  test('come from flags first, then from variables, then from the files that variables name', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'hedgerow-config-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await writeFile(join(directory, 'location'), 'North field\n')
    const environment = {
      GATEWAY_HUB_URL: 'https://variable.example.net',
      GATEWAY_NAME: 'From the variable',
      GATEWAY_LOCATION_FILE: join(directory, 'location'),
      GATEWAY_DNS_SERVERS: '192.0.2.1, 127.0.0.1:5353, [2001:db8::1]:53, 2001:db8::2',
      GATEWAY_HUB_DOMAIN: 'Example.NET.',
      GATEWAY_OFFLOAD: 'off',
      GATEWAY_UI_ON_LAN: 'on',
      PATH: '/bin',
    }
    const config = read(['--hub', 'http://flag.example.net:8080', '--port', '0'], environment)
    expect(config.hubUrl?.origin).toBe('http://flag.example.net:8080')
    expect(config).toMatchObject({
      name: 'From the variable',
      location: 'North field',
      port: 0,
      hubDomain: 'example.net',
      offload: false,
      uiOnLan: true,
      dnsServers: ['192.0.2.1', '127.0.0.1:5353', '[2001:db8::1]:53', '2001:db8::2'],
    })
  })

  test.each([
    [['--bogus'], {}, '--bogus'],
    [['--hub', 'hub.example.net'], {}, '--hub'],
    [['--hub', 'https://hub.example.net/portal'], {}, '--hub'],
    [['--name', ''], {}, '--name'],
    [['--name', 'a\u202eb'], {}, '--name'],
    [['--port', '65536'], {}, '--port'],
    [['extra'], {}, 'extra'],
    [[], { GATEWAY_HUB_URL: 'ftp://hub' }, 'GATEWAY_HUB_URL'],
    [[], { GATEWAY_HUB_URL: 'https://user:secret@hub' }, 'GATEWAY_HUB_URL'],
    [[], { GATEWAY_HUB_DOMAIN: 'a b' }, 'GATEWAY_HUB_DOMAIN'],
    [[], { GATEWAY_HUB_FINGERPRINT: 'ABCD' }, 'GATEWAY_HUB_FINGERPRINT'],
    [[], { GATEWAY_HOST: 'localhost' }, 'GATEWAY_HOST'],
    [[], { GATEWAY_PORT: '-1' }, 'GATEWAY_PORT'],
    [[], { GATEWAY_UI_TARGET: '127.0.0.1:5000' }, 'GATEWAY_UI_TARGET'],
    [[], { GATEWAY_DNS_SERVERS: 'dns.example.net' }, 'GATEWAY_DNS_SERVERS'],
    [[], { GATEWAY_UI_ON_LAN: 'yes' }, 'GATEWAY_UI_ON_LAN'],
    [[], { GATEWAY_OFFLOAD: 'maybe' }, 'GATEWAY_OFFLOAD'],
    [[], { GATEWAY_LOG_LEVEL: 'loud' }, 'GATEWAY_LOG_LEVEL'],
    [[], { GATEWAY_HUB: 'https://hub' }, 'GATEWAY_HUB'],
    [[], { GATEWAY_NAME: 'a', GATEWAY_NAME_FILE: '/etc/hostname' }, 'GATEWAY_NAME_FILE'],
    [[], { GATEWAY_INVITATION_CODE_FILE: '/nowhere/at/all' }, 'GATEWAY_INVITATION_CODE_FILE'],
  ])('%j %j is refused by its name', (args, environment, name) => {
    expect(() => read(args, environment)).toThrow(name)
  })

  test('a refusal does not repeat a password', () => {
    expect(() => read([], { GATEWAY_HUB_URL: 'https://user:secret@hub' })).not.toThrow('secret')
  })

  test('the help names every flag and every variable that can be set', () => {
    expect(readConfig(['--help', '--hub', 'nonsense'], { GATEWAY_PORT: 'x' })).toBe('help')
    for (const name of ['--hub', '--name', '--location', '--data', '--port', 'GATEWAY_HUB_FINGERPRINT', '_FILE'])
      expect(HELP).toContain(name)
  })
})
