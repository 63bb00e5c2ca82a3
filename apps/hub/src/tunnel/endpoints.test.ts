import { expect, it } from 'vitest'
import { createPortWords, vpnEndpoints } from './endpoints.ts'

const port = 51820
const fromRequest = (requestHost: string | undefined) => vpnEndpoints({ configuredHost: undefined, requestHost, port })

it('names the configured host, whatever the request says', () => {
  expect(vpnEndpoints({ configuredHost: 'vpn.example.net', requestHost: 'hub.local:8080', port })).toEqual([
    'vpn.example.net:51820',
  ])
  expect(vpnEndpoints({ configuredHost: '2001:db8::1', requestHost: undefined, port })).toEqual(['[2001:db8::1]:51820'])
})

it.each([
  ['hub.local:8080', 'hub.local:51820'],
  ['hub', 'hub:51820'],
  ['192.0.2.7:8080', '192.0.2.7:51820'],
  ['[2001:db8::1]:8080', '[2001:db8::1]:51820'],
  ['[::1]', '[::1]:51820'],
])('names the host of the request: %s', (host, endpoint) => expect(fromRequest(host)).toEqual([endpoint]))

it.each([undefined, '', 'a b', 'x\nPostUp = reboot', 'user@host', 'host/path', '-x', 'a..b', '[::1', '%31'])(
  'names nothing for a request for %j',
  (host) => expect(fromRequest(host)).toEqual([]),
)

it.each([
  ['hub.local:8080', 'port 51820 of hub.local'],
  ['[2001:db8::1]:8080', 'port 51820 of [2001:db8::1]'],
  ['a b', 'port 51820 of the hub'],
])('says what to open, for a hub at %s', (host, words) => {
  const endpoints = (requestHost: string | undefined) => fromRequest(requestHost)
  expect(createPortWords({ endpoints, port }, () => host)()).toBe(words)
})
