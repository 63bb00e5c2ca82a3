import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse as parseYaml, stringify } from 'yaml'
import { checkNames } from './known-names.ts'
import { namesOf } from './names.ts'
import { parseDeviceFile } from './parse.ts'
import { vainParts } from './warnings.ts'

const SECRET = 'c0rrect-h0rse-battery'
const FILE = `
site: { latitude: 52.1, longitude: 9.3, timeZone: Europe/Berlin }
cameras:
  orchard: { url: "http://127.0.0.1:9000/orchard.mjpeg", zones: { rows: [[0, 0.4], [1, 0.4], [1, 1]] } }
sources:
  eye: { cameras: [orchard], model: none, labels: [boar] }
  frigate: { url: "http://127.0.0.1:5000", user: a, password: b, cameras: [yard], mqtt: { url: "mqtt://127.0.0.1" } }
  api: { token: abcdefghijklmnopqrst }
secondLook: { labels: [boar], endpoint: { url: "http://127.0.0.1", key: k, model: m }, normal: sheep }
deterrents:
  valve: { driver: http, "on": { url: "http://127.0.0.1/1", headers: { A: b } }, "off": { url: "http://127.0.0.1/0" },
    quietHours: "22:00-06:00", watchedBy: [orchard] }
  siren: { driver: mqtt, broker: "mqtt://127.0.0.1", topic: siren/set, "on": "ON", "off": "OFF" }
rules:
  - { name: A, labels: [boar], cameras: [orchard], zones: [rows], hours: sunset-sunrise, fire: [valve], seconds: 5 }
  - { name: B, labels: [deer], verdict: confirmed, days: [monday], hours: ["20:00-22:00"], fire: [siren] }
applications: { router: { url: "http://192.168.1.1", title: Router, leastRole: admin } }
learning: { alsoLearn: { orchard: [person] } }
`
const whole = parseYaml(FILE) as object

/** The paths of all values that are no groups and no lists. */
function leavesOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, each]) =>
    leavesOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

/** The text of the file with other values at these paths. */
function withValues(changes: [path: (string | number)[], value: string][]): string {
  const changed = structuredClone(whole)
  for (const [path, value] of changes) {
    let at = changed as Record<string, unknown>
    for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>
    at[path.at(-1)!] = value
  }
  return stringify(changed).replaceAll(
    /"(!file \w+)"|(!file \w+)/g,
    (_all, quoted: string, plain: string) => quoted ?? plain,
  )
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  writeFileSync(join(folder, 'key'), SECRET)
})
afterAll(() => rmSync(folder, { recursive: true }))

function everythingTold(text: string, values: 'read' | 'hidden', environment = { SECRET }): string {
  const parsed = parseDeviceFile(text, values === 'hidden' ? values : { folder, environment })
  if (parsed.errors) return JSON.stringify(parsed.errors)
  const { value, names, warnings } = parsed
  const found = [new Map(), undefined].map((frigate) =>
    checkNames(value, names, { frigate, programs: [], models: new Map() }),
  )
  return JSON.stringify([found, warnings, vainParts(value), value.rules.map(({ name }) => name)])
}

const leaf = fc.constantFrom(...leavesOf(whole))
const named = fc.constantFrom('${SECRET}', '!file key', 'x${SECRET}', 'http://${SECRET}', 'http://a:${SECRET}@b/')

test('a secret is not told as the nearest name', () => {
  const text = `sources: { frigate: { url: "http://127.0.0.1:9", cameras: ["\${SECRET}"] } }
rules: [{ name: A, labels: [boar], cameras: [orchard], fire: [a] }]
deterrents: { a: { driver: command, "on": [a], "off": [a] } }
`
  const told = everythingTold(text, 'read', { SECRET: 'orchad' })
  expect(told).toContain('Frigate has not said whether it has the camera orchard.')
  expect(told).not.toContain('orchad')
})

test('whatever setting a secret is in, no error and no warning shows it', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(leaf, named), { minLength: 1, maxLength: 3 }), fc.boolean(), (changes, isShort) => {
      // A text that fits where a name is wanted shows most.
      const text = withValues(changes)
      const told = everythingTold(text, 'read', { SECRET: isShort ? 'orchad' : SECRET })
      expect(told).not.toContain(isShort ? 'orchad' : SECRET)
    }),
    { numRuns: 300 },
  )
})

test('without the password nothing is read, and nothing that depends on a value is an error', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(leaf, named), { minLength: 1, maxLength: 3 }), (changes) => {
      const text = withValues(changes)
      const here = everythingTold(text, 'hidden')
      expect(here).not.toContain(SECRET)
      // The same answer whatever the device has: it says nothing of that.
      expect(here).not.toMatch(/cannot be read|is not set/)
    }),
    { numRuns: 300 },
  )
})

test.each([
  '? !file key\n: 1',
  'rules:\n  - { ? !file key : 1 }',
  'sources: { ? "${SECRET}" : 1 }',
  'cameras: { ? !file key : { url: "http://a/" } }',
  'sources: { eye: { cameras: [!file key] } }',
  'rules: [{ name: !file key, labels: [boar], fire: ["${SECRET}"] }]',
  'a: &a !file key\n*a : 1',
  'learning: { alsoLearn: { ? !file key : [person] } }',
])('%j shows no secret, with the password or without', (text) => {
  for (const values of ['read', 'hidden'] as const) {
    const told = everythingTold(text, values)
    expect(told).not.toContain(SECRET)
  }
})

const NOT_WRITTEN_OUT = /A name cannot come from a variable or a file: write it out\.$/
const plain = parseDeviceFile(FILE, 'hidden').value!
const isName = (path: (string | number)[]) =>
  namesOf(plain).some((each) => JSON.stringify(each.path) === JSON.stringify(path))

const texts = leavesOf(whole).flatMap((path) => {
  const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], whole)
  return typeof value === 'string' ? [[path.join('.'), path, value] as const] : []
})

test.each(texts)(
  '%s by a variable is an error where a name stands, and the file is in force all the same',
  (name, path, value) => {
    const text = withValues([[path, '${GIVEN}']])
    for (const values of ['hidden', { folder, environment: { GIVEN: value } }] as const) {
      const parsed = parseDeviceFile(text, values)
      const known = { frigate: undefined, programs: [], models: undefined }
      const found = parsed.value ? checkNames(parsed.value, parsed.names, known).errors : parsed.errors
      const told = found.map(({ message }) => message).filter((message) => NOT_WRITTEN_OUT.test(message))
      expect(told).toEqual(isName(path) ? [`${name}: A name cannot come from a variable or a file: write it out.`] : [])
      expect(parsed.errors).toBeUndefined()
    }
  },
)

test('a rule and an application are called what is written, and warnings show that', () => {
  const text = `
cameras: { orchard: { url: "http://127.0.0.1:9000/" } }
sources: { eye: { cameras: [orchard], model: none } }
deterrents: { valve: { driver: shelly, address: "http://127.0.0.1" } }
rules: [{ name: !file key, labels: [boar], fire: [valve] },
  { name: "Farm \${SECRET}", labels: [motion], fire: [valve] }]
applications: { router: { url: "http://127.0.0.1:5000", title: "\${SECRET}" } }
`
  const parsed = parseDeviceFile(text, { folder, environment: { SECRET } })
  expect(parsed.errors).toBeUndefined()
  const { value, warnings } = parsed as Extract<typeof parsed, { errors?: undefined }>
  expect(value.rules.map(({ name }) => name)).toEqual(['!file key', 'Farm ${SECRET}'])
  expect(value.applications['router']!.title).toBe('${SECRET}')
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringContaining('the application router'),
    expect.stringContaining('The rule !file key gets nothing'),
    expect.stringContaining('The rule Farm ${SECRET} fires at whatever moves'),
  ])
  expect(vainParts(value)).toEqual([expect.stringContaining('The rule !file key fires at nothing')])
})

test('without the password, the rest of the file is checked as with it', () => {
  const text = `
sources: { api: { token: "\${API_TOKEN}" }, frigate: { url: "\${FRIGATE}", user: a, password: !file nowhere } }
cameras: { gate: { url: "rtsp://viewer:\${GATE_PASSWORD}@198.18.0.1:\${PORT}/s", framesPerSecond: 99 } }
deterrents: { valve: { driver: shelly, address: "\${SHELLY}" } }
rules: [{ name: "\${A}", labels: [boar], fire: [vale] }]
`
  expect(parseDeviceFile(text, 'hidden').errors).toMatchObject([
    { line: 3, column: 97, message: 'cameras.gate.framesPerSecond: This must be at most 30.' },
  ])
  expect(parseDeviceFile(text.replace('99', '5'), 'hidden').errors).toMatchObject([
    { line: 5, column: 48, message: 'rules.0.fire.0: There is no deterrent vale; the nearest is valve.' },
  ])
  expect(parseDeviceFile(text.replace('99', '5').replace('vale]', 'valve]'), 'hidden').errors).toBeUndefined()
  expect(parseDeviceFile('site: { latitude: "${A}", longitude: 1 }', 'hidden').errors).toMatchObject([
    { message: 'site.latitude: This must be a number.' },
  ])
})

test('a secret file is a regular one of at most 64 KiB; a pipe and a device do not keep the agent waiting', () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
  writeFileSync(join(folder, 'large'), 'x'.repeat(70_000))
  symlinkSync('/dev/zero', join(folder, 'zero'))
  const errorsOf = (name: string) =>
    parseDeviceFile(`sources: { api: { token: !file ${name} } }`, { folder, environment: {} }).errors
  for (const name of ['pipe', 'large', 'zero', '/dev/zero', '.', '/proc/self'])
    expect(errorsOf(name)).toMatchObject([{ message: '!file must name a regular file of at most 64 KiB.' }])
  expect(errorsOf('nothing')).toMatchObject([{ message: 'The file that !file names cannot be read.' }])
})

test('a password in an address may have any sign, also when it comes from a variable', () => {
  const urlOf = (text: string, PW: string) =>
    parseDeviceFile(`cameras: { a: { url: "${text}" } }`, { folder, environment: { PW } }).value?.cameras['a']?.url
  const passwordOf = (text: string, PW: string) => decodeURIComponent(new URL(urlOf(text, PW)!).password)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (password) => {
      expect(passwordOf('http://viewer:${PW}@198.18.0.1/', password)).toBe(password)
      expect(new URL(urlOf('http://viewer:${PW}@198.18.0.1/', password)!).hostname).toBe('198.18.0.1')
    }),
  )
  expect(passwordOf('rtsp://viewer:${PW}@198.18.0.1/', 'p%23ss')).toBe('p%23ss')
  for (const password of ['p#a/s?s@w:o%41 rd+ü', '%40', '%', '%%41'])
    expect(passwordOf('http://viewer:${PW}@198.18.0.1/', password)).toBe(password)
  expect(urlOf('http://198.18.0.1/${PW}@x', 'a/b')).toBe('http://198.18.0.1/a/b@x')
})

test('a password of a variable that looks encoded has one warning, without the password', () => {
  const text = `
cameras:
  a: { url: "rtsp://\${USER_NAME}:\${PW}@198.18.0.1/" }
  b: { url: "rtsp://viewer:\${PW}@198.18.0.2/\${PATH_OF_IT}" }
sources: { api: { token: "\${TOKEN}" } }
`
  const environment = { PW: 's%40cret', USER_NAME: '100%', PATH_OF_IT: 'a%20b', TOKEN: 'sixteen-%40-signs-long' }
  const { warnings, errors } = parseDeviceFile(text, { folder, environment }) as Extract<
    ReturnType<typeof parseDeviceFile>,
    { errors?: undefined }
  >
  expect(errors).toBeUndefined()
  expect(warnings).toEqual([{ line: 3, column: 13, message: expect.stringMatching(/^PW looks percent-encoded/) }])
  expect(JSON.stringify(warnings)).not.toMatch(/cret|%40/)
  expect(parseDeviceFile(text, 'hidden')).toMatchObject({ warnings: [] })
})

test.each([
  ['a name', 'rules: [{ name: &s "${PW}", labels: [boar], fire: [*s] }]'],
  [
    'a camera',
    'cameras: { gate: &c { url: &s "http://u:${PW}@198.18.0.1/" } }\nrules: [{ name: a, labels: [boar], cameras: ' +
      '[*s], fire: [] }]',
  ],
  ['a number', 'site: { timeZone: &s "${PW}", latitude: *s, longitude: 1 }'],
  ['an alias of an alias', 'a: &s "${PW}"\nrules: [{ name: &t *s, labels: [*s], fire: [*s] }]'],
])('an error about %s that is an alias of a secret shows what is written', (_what, text) => {
  const parsed = parseDeviceFile(text, { folder, environment: { PW: 'hunter2-of-the-device' } })
  expect(JSON.stringify([parsed.errors, parsed.errors ? [] : parsed.names.map(({ shown }) => shown)])).not.toContain(
    'hunter2',
  )
})
