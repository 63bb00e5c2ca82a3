import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { canonicalAddress, createSourceAddress } from './source-address.ts'

function requestFrom(address: string, forwarded?: string): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: address })
  const request = new IncomingMessage(socket)
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded
  return request
}

test.each([
  ['no trusted proxy', [], '198.51.100.7', '203.0.113.9', '198.51.100.7'],
  ['the socket is not the proxy', ['10.0.0.1'], '198.51.100.7', '203.0.113.9', '198.51.100.7'],
  ['a trusted proxy', ['10.0.0.1'], '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a client that prepends', ['10.0.0.1'], '10.0.0.1', '127.0.0.1, 203.0.113.9', '203.0.113.9'],
  ['a chain of trusted proxies', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 203.0.113.9, 10.2.3.4', '203.0.113.9'],
  ['only trusted hops', ['10.0.0.0/8'], '10.0.0.1', '10.9.9.9', '10.9.9.9'],
  ['a trusted proxy without the header', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
  ['a hop with its port', ['10.0.0.1'], '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['a hop in quotes', ['10.0.0.1'], '10.0.0.1', '"203.0.113.9:4711"', '203.0.113.9'],
  ['a hop in brackets', ['10.0.0.1'], '10.0.0.1', '[2001:DB8::9]', '2001:db8::9'],
  ['a hop in brackets with its port', ['10.0.0.1'], '10.0.0.1', '"[2001:db8::9]:4711"', '2001:db8::9'],
  ['a hop with a zone', ['10.0.0.1'], '10.0.0.1', '[fe80::9%eth0]:80', 'fe80::9'],
  ['a chain with ports', ['10.0.0.0/8'], '10.0.0.1', '198.51.100.1, 203.0.113.9:1, [::ffff:10.2.3.4]:2', '203.0.113.9'],
  ['an empty entry', ['10.0.0.1'], '10.0.0.1', '203.0.113.9, ,', '203.0.113.9'],
  ['a port alone', ['10.0.0.1'], '10.0.0.1', ':4711', '10.0.0.1'],
  ['a port that is none', ['10.0.0.1'], '10.0.0.1', '203.0.113.9:port', '10.0.0.1'],
  ['an open bracket', ['10.0.0.1'], '10.0.0.1', '[2001:db8::9', '10.0.0.1'],
  ['a hop that is not an address', ['10.0.0.1'], '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
  ['an octal hop', ['10.0.0.1'], '10.0.0.1', '0203.0.113.9', '10.0.0.1'],
  ['an IPv4 proxy on an IPv6 socket', ['10.0.0.1'], '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a mapped hop', ['10.0.0.1'], '10.0.0.1', '::FFFF:203.0.113.9', '203.0.113.9'],
  ['an IPv6 proxy', ['fd00::/8'], 'fd00::1', '2001:DB8:0::9', '2001:db8::9'],
])('with %s the address is right', (_case, trusted, socket, forwarded, expected) => {
  expect(createSourceAddress(trusted)(requestFrom(socket, forwarded))).toBe(expected)
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::ffff:cb00:7109', '203.0.113.9'],
  ['FE80:0:0::1%eth0', 'fe80::1'],
  ['010.0.0.1', undefined],
  ['10.1', undefined],
  ['0x7f.0.0.1', undefined],
  ['１０.0.0.1', undefined],
  ['', undefined],
])('%j is %j', (text, expected) => {
  expect(canonicalAddress(text)).toBe(expected)
})

test('the first entry without an address is told once, with the proxy that sent it', () => {
  const told: string[][] = []
  const addressOf = createSourceAddress(['10.0.0.1'], (...odd) => told.push(odd))
  for (const forwarded of ['203.0.113.9', '_hidden', 'unknown', '203.0.113.9, unknown'])
    addressOf(requestFrom('10.0.0.1', forwarded))
  expect(told).toEqual([['_hidden', '10.0.0.1']])
})
