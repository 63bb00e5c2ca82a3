import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rawPublicKey, readPrivateKey, readRelease, readSums, signText, type Release } from './index.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey
const [root, releaseKey, stranger] = [newKey(), newKey(), newKey()]

const release: Release = {
  version: '0.2.0',
  number: 7,
  createdAt: '2026-11-22T10:00:00Z',
  expiresAt: '2027-05-22T10:00:00Z',
  files: [
    {
      product: 'hedgerow-gateway',
      platform: 'linux-arm64',
      name: 'hedgerow-gateway-0.2.0-linux-arm64.tar.xz',
      size: 30_000_000,
      sha256: 'ab'.repeat(32),
    },
  ],
}

function files(changes: { keys?: object; release?: object; keysBy?: KeyObject; releaseBy?: KeyObject } = {}) {
  const keys = { number: 3, expiresAt: '2027-11-22T00:00:00Z', keys: [rawPublicKey(releaseKey)], ...changes.keys }
  return {
    keys: signText('hedgerow release keys v1', JSON.stringify(keys), [changes.keysBy ?? root]),
    release: signText('hedgerow release v1', JSON.stringify({ ...release, ...changes.release }), [
      changes.releaseBy ?? releaseKey,
    ]),
  }
}

const read = (given: { keys: string; release: string }, seen = { keys: 1, release: 1 }, now = NOW) =>
  readRelease(given, { rootKeys: [rawPublicKey(root)], seen, now })
const codeOf = (answer: ReturnType<typeof read>) => (answer.ok ? 'ok' : answer.code)

describe('a release', () => {
  it('is accepted when a release key signed it and a root key signed that key', () => {
    expect(read(files())).toMatchObject({ ok: true, release, keys: { number: 3 } })
  })

  it.each([
    ['keys that a stranger signed', files({ keysBy: stranger }), 'keys-not-signed'],
    ['a release that a stranger signed', files({ releaseBy: stranger }), 'not-signed'],
    ['a release that the root key signed', files({ releaseBy: root }), 'not-signed'],
    ['keys after their end', files({ keys: { expiresAt: '2026-11-22T12:00:00Z' } }), 'keys-expired'],
    ['a release after its end', files({ release: { expiresAt: '2026-11-22T11:59:59Z' } }), 'expired'],
    ['a field that nobody knows', files({ release: { run: 'rm' } }), 'not-signed'],
    [
      'a file name that leaves the folder',
      files({ release: { files: [{ ...release.files[0], name: '../x' }] } }),
      'not-signed',
    ],
    ['no JSON', { keys: 'x', release: '' }, 'keys-not-signed'],
  ])('is refused with %s', (_, given, code) => {
    expect(codeOf(read(given))).toBe(code)
  })

  it('never goes back: neither its keys nor itself', () => {
    expect(codeOf(read(files(), { keys: 4, release: 1 }))).toBe('keys-older')
    expect(codeOf(read(files(), { keys: 3, release: 8 }))).toBe('older')
    expect(codeOf(read(files(), { keys: 3, release: 7 }))).toBe('ok')
  })

  it('does not accept a list of keys as a release, or a release as a list of keys', () => {
    const { keys, release: signed } = files()
    expect(codeOf(read({ keys: signed, release: keys }))).toBe('keys-not-signed')
    const swapped = signText('hedgerow release keys v1', JSON.stringify(release), [releaseKey])
    expect(codeOf(read({ keys, release: swapped }))).toBe('not-signed')
  })

  it('gives no other result after any change of a byte, and never throws', () => {
    const given = files()
    fc.assert(
      fc.property(
        fc.constantFrom('keys' as const, 'release' as const),
        fc.nat(),
        fc.integer({ min: 33, max: 126 }),
        (which, place, code) => {
          const text = given[which]
          const at = place % text.length
          fc.pre(/[^\s]/.test(text[at]!) && text.charCodeAt(at) !== code)
          const changed = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
          const answer = read({ ...given, [which]: changed })
          // The last character of a base64 text has unused bits; every other byte is signed or named.
          expect([false, JSON.stringify(read(given))]).toContain(answer.ok && JSON.stringify(answer))
        },
      ),
    )
    fc.assert(fc.property(fc.string(), fc.string(), (keys, text) => !read({ keys, release: text }).ok))
  })

  it('is signed by Ed25519 keys only', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    expect(() => readPrivateKey(rsa.export({ type: 'pkcs8', format: 'pem' }).toString())).toThrow('no Ed25519 key')
    const pem = root.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(rawPublicKey(readPrivateKey(pem))).toBe(rawPublicKey(root))
  })
})

it('SHA256SUMS is valid when a release key signed all of it', () => {
  const keys = { number: 3, expiresAt: '2027-11-22T00:00:00Z', keys: [rawPublicKey(releaseKey)] }
  const sums = Buffer.from(`${'ab'.repeat(32)}  hedgerow-hub_0.2.0_arm64.deb\n${'cd'.repeat(32)}  ../leaves\n`)
  const signature = sign(null, sums, releaseKey)
  expect(readSums({ sums, signature }, keys)).toEqual(new Map([['hedgerow-hub_0.2.0_arm64.deb', 'ab'.repeat(32)]]))
  expect(readSums({ sums: sums.subarray(1), signature }, keys)).toBeUndefined()
  expect(readSums({ sums, signature: sign(null, sums, stranger) }, keys)).toBeUndefined()
  expect(readSums({ sums, signature: Buffer.from('short') }, keys)).toBeUndefined()
})
