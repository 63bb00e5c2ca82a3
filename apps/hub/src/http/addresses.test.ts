import { expect, test } from 'vitest'
import { addressesForOthers } from './addresses.ts'

const interfaces = {
  lo: [{ address: '127.0.0.1', family: 'IPv4' as const, internal: true }],
  eth0: [
    { address: '198.18.0.5', family: 'IPv4' as const, internal: false },
    { address: 'fe80::1', family: 'IPv6' as const, internal: false },
    { address: '2001:db8::5', family: 'IPv6' as const, internal: false },
  ],
}
const ports = { port: 8080, httpsPort: undefined }
const of = (config: { host?: string; publicUrl?: string }, at: Parameters<typeof addressesForOthers>[1] = ports) =>
  addressesForOthers({ host: config.host, publicUrl: config.publicUrl }, at, interfaces)

test('a hub on every address names each one that another machine can use, with both ports', () => {
  expect(of({}, { port: 8080, httpsPort: 8443 })).toEqual([
    'http://198.18.0.5:8080',
    'https://198.18.0.5:8443',
    'http://[2001:db8::5]:8080',
    'https://[2001:db8::5]:8443',
  ])
  expect(of({ host: '0.0.0.0' })).toEqual(['http://198.18.0.5:8080'])
  expect(of({ host: '198.18.0.5' })).toEqual(['http://198.18.0.5:8080'])
})

test('a hub behind a proxy names only its public address, and one for this machine only names none', () => {
  expect(of({ host: '127.0.0.1', publicUrl: 'https://hub.example.net' })).toEqual(['https://hub.example.net'])
  expect(of({ host: '127.0.0.1' })).toEqual([])
  expect(of({ host: 'localhost' })).toEqual([])
})
