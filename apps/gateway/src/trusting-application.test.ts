import { expect, test } from 'vitest'
import { replaceIdentityHeaders, type TrustingApplication } from './trusting-application.ts'

const application: TrustingApplication = {
  ownHeaders: ['secret', 'farm-part'],
  headersFor: ({ user, role }) => ({ secret: 's', 'farm-part': `${role} ${user}` }),
}
const FORGED = { secret: 'guess', 'farm-part': 'admin root', farm_part: 'admin root', accept: '*/*' }

function told(headers: Record<string, string | string[]>, isTunnel: boolean) {
  const copy = { ...headers }
  replaceIdentityHeaders(copy, application, isTunnel)
  return copy
}

test('a person whom the hub names is passed on, whatever the request said', () => {
  const hub = { 'x-hub-user': 'ada', 'x-hub-role': 'user' }
  expect(told({ ...FORGED, ...hub }, true)).toEqual({ ...hub, accept: '*/*', secret: 's', 'farm-part': 'user ada' })
})

test.each<[string, Record<string, string | string[]>, boolean]>([
  ['the local network', { 'x-hub-user': 'root', 'x-hub-role': 'admin' }, false],
  ['the tunnel without a name', {}, true],
  ['the tunnel with two names', { 'x-hub-user': ['a', 'b'], 'x-hub-role': 'admin' }, true],
])('a request from %s has no person', (_from, headers, isTunnel) => {
  expect(told({ ...FORGED, ...headers }, isTunnel)).toEqual({ ...headers, accept: '*/*' })
})
