import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const PAGE = '<!doctype html><title>Hedgerow</title>'
const PUBLIC_PAGES = {
  landing: '<!doctype html><title>Landing</title><link rel="canonical" href="https://hub.invalid/">',
  beta: '<!doctype html><title>Beta</title><a href="mailto:contact@hub.invalid?subject=Beta">contact@hub.invalid</a>',
  'beta-register': '<!doctype html><title>Beta</title>Register',
  'beta-sign-in': '<!doctype html><title>Beta</title>Sign in',
  'not-found': '<!doctype html><title>Not found</title>',
}
const SCRIPT = `console.log(${'1+'.repeat(2_000)}1)`

const FILM = ['demo.webm', 'demo.mp4', 'demo-poster.jpg', 'demo.vtt']
/** Larger than answers that stay uncompressed. */
const PICTURES = Buffer.alloc(5_000, 'film')

const VISITOR_PAGES = ['login', 'register', 'register-open', 'register-closed']

let hub: TestHub
let dir: string
let siteDir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hub-web-'))
  const webDir = join(dir, 'dist')
  siteDir = join(dir, 'site')
  mkdirSync(join(webDir, 'assets'), { recursive: true })
  mkdirSync(siteDir)
  writeFileSync(join(webDir, 'index.html'), PAGE)
  for (const name of VISITOR_PAGES) writeFileSync(join(webDir, `${name}.html`), name)
  writeFileSync(
    join(webDir, 'portal-paths.json'),
    JSON.stringify(['/login', '/register', '/gateways', '/gateways/:id', '/proxy/gateway/:id']),
  )
  for (const [name, html] of Object.entries(PUBLIC_PAGES)) writeFileSync(join(siteDir, `${name}.html`), html)
  writeFileSync(join(webDir, 'icon.svg'), '<svg/>')
  writeFileSync(join(webDir, '.hidden'), 'hidden')
  mkdirSync(join(siteDir, 'media'))
  for (const name of FILM) writeFileSync(join(siteDir, 'media', name), PICTURES)
  writeFileSync(join(webDir, 'assets/index-abc123.js'), SCRIPT)
  writeFileSync(join(webDir, 'assets/twins-abc123.js'), SCRIPT)
  writeFileSync(join(webDir, 'assets/twins-abc123.js.br'), brotliCompressSync(`${SCRIPT} // brotli`))
  writeFileSync(join(webDir, 'assets/twins-abc123.js.gz'), gzipSync(`${SCRIPT} // gzip`))
  writeFileSync(join(dir, 'secret.txt'), 'secret')
  hub = await startTestHub('sqlite', { webDir, siteDir, contactEmail: `o'hara+"<b>&@example.net` })
})
afterAll(async () => {
  await hub.stop()
  rmSync(dir, { recursive: true })
})

const get = (url: string, headers: Record<string, string> = {}) =>
  hub.app.inject({ url, headers: { host: 'hub.example:8080', ...headers } })

test('the sign-in has a file of its own, and so has the registration for each of its settings', async () => {
  const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
  const register = async (payload: { openRegistration: boolean; inviteCodeRequired: boolean }) => {
    await hub.app.inject({ method: 'PATCH', url: '/api/v1/hub/settings', headers, payload })
    return (await get('/register?x=1')).body
  }
  expect((await get('/login')).body).toBe('login')
  expect((await get('/login')).headers['cache-control']).toBe('no-cache')
  expect((await get('/register')).body).toBe('register')
  expect(await register({ openRegistration: true, inviteCodeRequired: false })).toBe('register-open')
  expect(await register({ openRegistration: false, inviteCodeRequired: false })).toBe('register-closed')
})

test.each(['/gateways?token=DT-0123456789AB', '/gateways/abcdefghijkl', '/gateways/', '/proxy/gateway/abcdefghijkl'])(
  '%s is the portal',
  async (url) => {
    const response = await get(url)
    expect(response.statusCode).toBe(200)
    expect(response.body).toBe(PAGE)
    expect(response.headers['content-type']).toMatch(/^text\/html/)
    expect(response.headers['cache-control']).toBe('no-cache')
  },
)

// test/gates/regular-expressions.test.ts shows that none of the expressions involved takes more than linear time.
test.each([
  ['nothing', '/', '', 200],
  ['a name', '/', 'x', 404],
  ['a name, below a screen', '/gateways/', 'x', 404],
  ['nothing, below a screen', '/gateways/', '', 200],
])('64 K slashes before %s are an address like others', async (_what, start, end, status) => {
  expect((await get(start + '/'.repeat(64 * 1024) + end)).statusCode).toBe(status)
})

test('without a configured address, the beta page has the first admin’s; without any, a way to sign in', async () => {
  const other = await startTestHub('sqlite', { webDir: join(dir, 'dist'), siteDir })
  try {
    const beta = async () => (await other.app.inject({ url: '/beta' })).body
    const headers = { authorization: `Bearer ${await other.signIn('admin')}` }
    const change = (url: string, payload: object) =>
      other.app.inject({ method: 'PATCH', url: `/api/v1${url}`, headers, payload })
    expect(await beta()).toBe(PUBLIC_PAGES['beta-register'])
    await change('/hub/settings', { openRegistration: false })
    expect(await beta()).toBe(PUBLIC_PAGES['beta-sign-in'])
    const currentPassword = 'the-password-of-admin'
    await change('/auth/profile', { firstName: '', lastName: '', email: 'rosa@farm.example', currentPassword })
    expect(await beta()).toContain('href="mailto:rosa@farm.example?subject=Beta">rosa@farm.example</a>')
  } finally {
    await other.stop()
  }
})

test('/ is the landing page, which names the requested address as its own', async () => {
  const response = await get('/')
  expect(response.statusCode).toBe(200)
  expect(response.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
  expect(response.body).toBe(PUBLIC_PAGES.landing.replace('https://hub.invalid', 'http://hub.example:8080'))
})

test('/beta names the contact, escaped for the page', async () => {
  const { body } = await get('/beta')
  expect(body).toContain(`href="mailto:o'hara%2B%22%3Cb%3E%26@example.net?subject=Beta"`)
  expect(body).toContain('>o&#39;hara+&quot;&lt;b&gt;&amp;@example.net</a>')
})

test.each(['/nowhere', '/login/more', '/gateways/a/b', '/landing.html', '/index.html', '/beta/x'])(
  '%s is not found, on a page that says so',
  async (url) => {
    const response = await get(url)
    expect(response.statusCode).toBe(404)
    expect(response.body).toBe(PUBLIC_PAGES['not-found'])
  },
)

test('robots.txt and the sitemap name the public pages by their whole addresses', async () => {
  const robots = await get('/robots.txt')
  expect(robots.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(robots.body).toContain('Disallow: /api/\n')
  expect(robots.body).toContain('Sitemap: http://hub.example:8080/sitemap.xml\n')
  const sitemap = await get('/sitemap.xml')
  expect(sitemap.headers['content-type']).toBe('application/xml; charset=utf-8')
  expect([...sitemap.body.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url]) => url)).toEqual([
    'http://hub.example:8080/',
    'http://hub.example:8080/beta',
  ])
})

test.each(['"><script>alert(1)</script>', 'a b', 'hub.example\nDisallow: /'])(
  'a Host of %j reaches neither page nor robots.txt',
  async (host) => {
    for (const url of ['/', '/robots.txt', '/sitemap.xml']) {
      const { body } = await get(url, { host })
      expect(body).not.toContain(host)
      expect(body).toContain('http://localhost/')
    }
  },
)

test('a public page may not connect to gateways, as the portal may', async () => {
  const { headers } = await get('/beta')
  expect(headers['content-security-policy']).toContain("connect-src 'self';")
  expect(headers['content-security-policy']).toMatch(/form-action 'self'$/)
  expect(headers['content-security-policy']).toContain("script-src 'self';")
})

test('a page may load and run only its own files, and nobody may frame it', async () => {
  const { headers } = await get('/login')
  const directives = new Map(
    String(headers['content-security-policy'])
      .split('; ')
      .map((directive): [string, string] => {
        const [name = '', ...sources] = directive.split(' ')
        return [name, sources.join(' ')]
      }),
  )
  expect(Object.fromEntries(directives)).toMatchObject({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' data: blob:",
    'connect-src': expect.stringMatching(/^'self' http:\/\/\*:8080 https:\/\/\*:8080 /),
    'base-uri': "'none'",
    'object-src': "'none'",
    'frame-ancestors': "'none'",
    'form-action': expect.stringMatching(/^'self'/),
  })
  expect(headers).toMatchObject({
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-content-type-options': 'nosniff',
  })
})

test.each(["evil.example; script-src 'unsafe-inline'", 'a b', 'x,y', "'unsafe-inline'"])(
  'a Host of %j adds no directive to the policy',
  async (host) => {
    const policy = String((await get('/login', { host })).headers['content-security-policy'])
    expect(policy.split(';')).toHaveLength(14)
    expect(policy).not.toContain('evil')
    expect(policy.match(/unsafe-inline/g)).toHaveLength(1)
  },
)

test('hashed files are cached for good, others are revalidated', async () => {
  expect((await get('/assets/index-abc123.js')).headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await get('/icon.svg')).headers['cache-control']).toBe('no-cache')
})

test('large answers are compressed for clients that accept it', async () => {
  const plain = await get('/assets/index-abc123.js')
  expect(plain.body).toBe(SCRIPT)
  const packed = await get('/assets/index-abc123.js', { 'accept-encoding': 'br' })
  expect(packed.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(SCRIPT)
})

test.each([
  ['demo.webm', 'video/webm'],
  ['demo.mp4', 'video/mp4'],
  ['demo-poster.jpg', 'image/jpeg'],
  ['demo.vtt', 'text/vtt; charset=utf-8'],
])('/media/%s is %s', async (name, type) => {
  const response = await get(`/media/${name}`)
  expect(response.headers['content-type']).toBe(type)
  expect(response.rawPayload).toEqual(PICTURES)
})

test.each(['demo.webm', 'demo.mp4', 'demo.vtt'])('players get the requested part of %s', async (name) => {
  const headers = { 'accept-encoding': 'gzip, deflate, br' }
  const start = await get(`/media/${name}`, { ...headers, range: 'bytes=0-1' })
  expect(start.statusCode).toBe(206)
  expect(start.headers).toMatchObject({ 'content-range': 'bytes 0-1/5000', 'content-length': '2' })
  const middle = await get(`/media/${name}`, { ...headers, range: 'bytes=1000-3999' })
  expect(middle.statusCode).toBe(206)
  expect(middle.headers).not.toHaveProperty('content-encoding')
  expect(middle.headers).toMatchObject({ 'accept-ranges': 'bytes', 'content-range': 'bytes 1000-3999/5000' })
  expect(middle.rawPayload).toEqual(PICTURES.subarray(1_000, 4_000))
  const past = await get(`/media/${name}`, { ...headers, range: 'bytes=5000-' })
  expect(past.statusCode).toBe(416)
  expect(past.json()).toMatchObject({ error: 'range_not_satisfiable' })
})

test('a file compressed by the build is sent as it is, to clients that accept it, and cached for good', async () => {
  const url = '/assets/twins-abc123.js'
  const brotli = await get(url, { 'accept-encoding': 'gzip, deflate, br' })
  expect(brotli.headers).toMatchObject({
    'content-encoding': 'br',
    'content-type': expect.stringMatching(/javascript/),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: expect.stringMatching(/accept-encoding/i),
  })
  expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(`${SCRIPT} // brotli`)
  const zipped = await get(url, { 'accept-encoding': 'gzip' })
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(`${SCRIPT} // gzip`)
  expect((await get(url)).body).toBe(SCRIPT)
})

test('HEAD has the headers and no body', async () => {
  const response = await hub.app.inject({ method: 'HEAD', url: '/login' })
  expect([response.statusCode, response.body]).toEqual([200, ''])
})

test.each(['/assets/gone.js', '/.hidden', '/api', '/api/', '/api/v1/x.js'])('%s is not found, in JSON', async (url) => {
  const response = await get(url)
  expect(response.statusCode).toBe(404)
  expect(response.json()).toMatchObject({ error: 'not_found' })
})

test.each(['/..%2fsecret.txt', '/assets/..%2f..%2fsecret.txt', '/%2e%2e/secret.txt', '/..%5csecret.txt', '/%00.txt'])(
  '%s does not leave the folder',
  async (url) => {
    const response = await get(url)
    expect([400, 404]).toContain(response.statusCode)
    expect(['not_found', 'invalid_request']).toContain(response.json<{ error: string }>().error)
  },
)

test('a page refuses POST', async () => {
  const response = await hub.app.inject({ method: 'POST', url: '/login', payload: {} })
  expect(response.statusCode).toBe(404)
})
