import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { digestAuthorization, digestChallengeOf } from './http-digest.ts'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/** The example of RFC 7616 §3.9.1: two headers, as Node joins them. */
const OFFERED =
  'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, ' +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", ' +
  'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, ' +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'

const fieldsOf = (header: string) =>
  Object.fromEntries([...header.matchAll(/(\w+)="?([^",]*)"?/g)].map(([, name, value]) => [name, value]))

test('of several challenges the strongest is answered, as the RFC says', () => {
  const challenge = digestChallengeOf(OFFERED)!
  expect(challenge).toMatchObject({ algorithm: 'SHA-256', realm: 'http-auth@example.org', hasQuality: true })
  const request = { method: 'GET', uri: '/dir/index.html', user: 'Mufasa', password: 'Circle of Life', count: 1 }
  const fields = fieldsOf(digestAuthorization(challenge, request))
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const secret = hash('Mufasa:http-auth@example.org:Circle of Life')
  // RFC 7616 §3.4.1, with the nonce of the client, which is random.
  expect(fields['response']).toBe(
    hash(`${secret}:${challenge.nonce}:00000001:${fields['cnonce']}:auth:${hash('GET:/dir/index.html')}`),
  )
  expect(fields).toMatchObject({ qop: 'auth', nc: '00000001', algorithm: 'SHA-256', opaque: challenge.opaque })
})

test('a challenge without a quality of protection is answered as RFC 2069 says', () => {
  const challenge = digestChallengeOf('Digest realm="camera", nonce="abc"')!
  const request = { method: 'GET', uri: '/snap?channel=1', user: 'a"b', password: 'p', count: 17 }
  const header = digestAuthorization(challenge, request)
  expect(header).toContain(String.raw`username="a\"b"`)
  expect(header).toContain(`response="${md5(`${md5('a"b:camera:p')}:abc:${md5('GET:/snap?channel=1')}`)}"`)
  expect(header).not.toMatch(/nc=|qop|cnonce/)
})

test.each([
  undefined,
  '',
  'Basic realm="camera"',
  'Digest realm="camera"',
  'Digest realm="camera", nonce="a", algorithm=SHA-512',
  'Digest realm="camera", nonce="a", qop="auth-int"',
  `Digest ${'realm='.repeat(10_000)}`,
])('%s is no challenge that can be answered', (header) => {
  expect(digestChallengeOf(header)).toBeUndefined()
})

test('a Digest challenge is found beside a Basic one, in either order', () => {
  const digest = 'Digest realm="a, b", nonce="n", qop="auth"'
  for (const header of [`Basic realm="camera", ${digest}`, `${digest}, Basic realm="camera"`])
    expect(digestChallengeOf(header)).toMatchObject({ realm: 'a, b', nonce: 'n', algorithm: 'MD5' })
})
