import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
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
  expect(challenge).toMatchObject({ algorithm: 'SHA-256', realm: 'http-auth@example.org', quality: 'auth' })
  const request = {
    method: 'GET',
    uri: '/dir/index.html',
    user: 'Mufasa',
    password: 'Circle of Life',
    body: '',
    count: 1,
  }
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
  const request = { method: 'GET', uri: '/snap?channel=1', user: 'a"b', password: 'p', body: '', count: 17 }
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
  'Digest realm="camera", nonce="a", qop="auth-conf"',
  `Digest ${'realm='.repeat(10_000)}`,
])('%s is no challenge that can be answered', (header) => {
  expect(digestChallengeOf(header)).toBeUndefined()
})

test('a Digest challenge is found beside a Basic one, in either order', () => {
  const digest = 'Digest realm="a, b", nonce="n", qop="auth"'
  for (const header of [`Basic realm="camera", ${digest}`, `${digest}, Basic realm="camera"`])
    expect(digestChallengeOf(header)).toMatchObject({ realm: 'a, b', nonce: 'n', algorithm: 'MD5' })
})

describe('what cameras offer besides', () => {
  const request = { method: 'GET', uri: '/x', user: 'jörg', password: 'p', body: '', count: 2 }
  const answerTo = (offered: string) => {
    const challenge = digestChallengeOf(`Digest nonce="n", ${offered}`)!
    const header = digestAuthorization(challenge, request)
    return { header, fields: fieldsOf(header) }
  }
  const hashWith = (name: string) => (text: string) => createHash(name).update(text).digest('hex')

  test.each([
    ['MD5-sess', 'md5'],
    ['SHA-256-sess', 'sha256'],
    ['"md5-SESS"', 'md5'],
    ['SHA-512-256', 'sha512-256'],
  ])('the algorithm %s', (algorithm, name) => {
    const hash = hashWith(name)
    const { fields } = answerTo(`realm="c", qop="auth", algorithm=${algorithm}`)
    const secret = hash('jörg:c:p')
    const key = /sess/i.test(algorithm) ? hash(`${secret}:n:${fields['cnonce']}`) : secret
    expect(fields['response']).toBe(hash(`${key}:n:00000002:${fields['cnonce']}:auth:${hash('GET:/x')}`))
    expect(fields['algorithm']).toBe(algorithm.replaceAll('"', ''))
  })

  test('a session without a quality has a nonce of the client', () => {
    const { fields } = answerTo('realm="c", algorithm=MD5-sess')
    expect(fields['response']).toBe(md5(`${md5(`${md5('jörg:c:p')}:n:${fields['cnonce']}`)}:n:${md5('GET:/x')}`))
  })

  test('the nonce of the client stays, because servers differ in which one a session is of', () => {
    const challenge = digestChallengeOf('Digest realm="c", nonce="n", qop="auth", algorithm=MD5-sess')!
    const [first, second] = [1, 2].map((count) => fieldsOf(digestAuthorization(challenge, { ...request, count })))
    expect(second!['cnonce']).toBe(first!['cnonce'])
    expect(second!['nc']).not.toBe(first!['nc'])
  })

  test('protection of the body', () => {
    const { fields } = answerTo('realm="c", qop="auth-int"')
    const asked = md5(`GET:/x:${md5('')}`)
    expect(fields['response']).toBe(md5(`${md5('jörg:c:p')}:n:00000002:${fields['cnonce']}:auth-int:${asked}`))
    expect(fields['qop']).toBe('auth-int')
  })

  test('quotes in the realm, an empty opaque, an empty quality, long nonces', () => {
    const { header } = answerTo(String.raw`realm="the \"best\" cam\\era", opaque="", qop=""`)
    expect(header).toContain(String.raw`realm="the \"best\" cam\\era"`)
    expect(header).toContain(md5(`${md5(String.raw`jörg:the "best" cam\era:p`)}:n:${md5('GET:/x')}`))
    expect(header).toContain('opaque=""')
    expect(header).not.toMatch(/algorithm|qop/)
    const nonce = 'x'.repeat(900)
    expect(digestChallengeOf(`Digest realm="c", nonce="${nonce}"`)?.nonce).toBe(nonce)
  })
})
