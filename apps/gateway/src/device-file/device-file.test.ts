import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { watchDeviceFile } from './device-file.ts'
import { withGivenCameras } from './given-cameras.ts'
import { parseDeviceFile } from './parse.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'device-file-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const parse = (text: string, environment: NodeJS.ProcessEnv = {}) => parseDeviceFile(text, { folder, environment })

test('cameras of the command line are looked at beside those of the file', () => {
  const urls = ['rtsp://10.0.0.9/a', 'http://10.0.0.9/b']
  function file(text: string) {
    const parsed = parse(text)
    if (parsed.errors) throw new Error(parsed.errors[0]!.message)
    return parsed.value
  }
  const alone = withGivenCameras(file(''), urls)
  expect(alone.sources.eye).toMatchObject({ cameras: ['camera 1', 'camera 2'] })
  expect(alone.cameras['camera 2']).toMatchObject({ url: 'http://10.0.0.9/b', framesPerSecond: 5 })
  const beside = withGivenCameras(
    file(
      'cameras: { camera 1: { url: "http://10.0.0.9/c" } }\nsources: { eye: { cameras: [camera 1], labels: [fox] } }',
    ),
    urls,
  )
  expect(beside.sources.eye).toMatchObject({
    cameras: ['camera 1', 'camera 1 of the command line', 'camera 2'],
    labels: ['fox'],
  })
  expect(beside.cameras['camera 1']!.url).toBe('http://10.0.0.9/c')
  expect(withGivenCameras(alone, [])).toBe(alone)
})

describe('a gateway.yaml', () => {
  test('with an eye may name only existing cameras', () => {
    const camera = 'cameras: { orchard: { url: "rtsp://10.0.0.9/s", zones: { rows: [[0, 0.4], [1, 0.4], [1, 1]] } } }\n'
    expect(parse(`${camera}sources: { eye: { cameras: [orchard] } }`)).toMatchObject({
      value: { cameras: { orchard: { framesPerSecond: 5 } }, sources: { eye: { model: 'none' } } },
    })
    expect(parse(`${camera}sources: { eye: { cameras: [gate] } }`)).toMatchObject({
      errors: [{ line: 2, message: 'sources.eye.cameras.0: There is no camera gate; there is orchard.' }],
    })
  })

  test('that is empty is valid', () => {
    const empty = {
      site: {},
      cameras: {},
      sources: {},
      deterrents: {},
      rules: [],
      applications: {},
      learning: { enabled: true, hours: '02:00-05:00', megabytes: 100, alsoLearn: {} },
      updates: { enabled: true },
      record: { days: 14, megabytes: 200 },
    }
    expect(parse('').value).toEqual(empty)
    expect(parse('# nothing yet\n').value).toEqual(empty)
  })

  test('takes secrets from the environment and from files', () => {
    writeFileSync(join(folder, 'token'), 'from-a-file-0123456789\n')
    const fromFile = parse('sources: { api: { token: !file token } }')
    expect(fromFile).toMatchObject({
      value: { sources: { api: { token: 'from-a-file-0123456789', loopbackNeedsToken: true } } },
    })
    const fromEnvironment = parse('sources: { api: { token: "${API_TOKEN}" } }', { API_TOKEN: 'from-env-0123456789' })
    expect(fromEnvironment).toMatchObject({ value: { sources: { api: { token: 'from-env-0123456789' } } } })
  })

  test.each([
    ['sources:\n  api: { tokn: abcdefghijklmnop }', 2, 16, 'sources.api.tokn: This key is not known.'],
    ['sources:\n  api:\n    token: short', 3, 12, 'sources.api.token: A token has at least 16 characters.'],
    [
      'sources:\n  api:\n    token: 1234567890123456',
      3,
      12,
      'sources.api.token: This must be text (put numbers in quotes).',
    ],
    [
      'sources:\n  api: { loopbackNeedsToken: maybe }',
      2,
      30,
      'sources.api.loopbackNeedsToken: This must be true or false.',
    ],
    ['sources: { api: { token: "${NOT_SET}" } }', 1, 26, 'The environment variable NOT_SET is not set.'],
    ['sources: { api: { token: !file nowhere } }', 1, 32, 'The file that !file names cannot be read.'],
    ['- a\n- b', 1, 1, 'The file: This must be a group of keys.'],
  ])('with %j has its error at line %d, column %d', (text, line, column, message) => {
    expect(parse(text).errors).toMatchObject([{ line, column, message }])
  })

  test('with every kind of part is valid', () => {
    const text = `
site: { latitude: 52.1, longitude: 9.3, timeZone: Europe/Berlin }
cameras:
  orchard: { url: "http://127.0.0.1:9000/orchard.mjpeg", framesPerSecond: 5,
    zones: { rows: [[0, 0.4], [1, 0.4], [1, 1], [0, 1]] } }
  gate: { url: "rtsp://viewer:\${GATE_PASSWORD}@192.168.1.30/stream2" }
sources:
  eye: { cameras: [orchard, gate], model: none }          # none: motion and the demonstration eye
  frigate: { url: "http://127.0.0.1:5000" }
  api: { token: "\${API_TOKEN}", loopbackNeedsToken: false }
deterrents:
  sprinkler: { driver: http, "on": { url: "http://192.168.1.20/on" }, "off": { url: "http://192.168.1.20/off" },
    seconds: 10, coolDownSeconds: 60, secondsAnHour: 120 }
  siren: { driver: mqtt, broker: "mqtt://127.0.0.1", topic: siren/set, "on": "ON", "off": "OFF", seconds: 5 }
rules:
  - { name: Boar at night, labels: [boar, deer], cameras: [orchard], zones: [rows], minimumScore: 0.7,
      hours: sunset-sunrise, fire: [sprinkler] }
`
    expect(parse(text, { GATE_PASSWORD: 'secret', API_TOKEN: 'from-env-0123456789' })).toMatchObject({
      value: {
        cameras: { gate: { url: 'rtsp://viewer:secret@192.168.1.30/stream2' } },
        rules: [{ cameras: ['orchard'], zones: ['rows'] }],
      },
    })
    const other = (from: string, to: string) =>
      parse(text.replace(from, to), { GATE_PASSWORD: 'x', API_TOKEN: 'from-env-0123456789' })
    expect(other('  gate: {', '  barn: {}\n  gate: {')).toMatchObject({ value: { cameras: { barn: {} } } })
    expect(other('cameras: [orchard, gate], model', 'cameras: [orchard, barn], model').errors).toHaveLength(1)
  })

  test('that is not YAML names the line', () => {
    const { errors } = parse('sources:\n  api: {\n')
    expect(errors?.[0]?.line).toBeGreaterThan(1)
  })

  const deterrent =
    'deterrents:\n  valve: { driver: http, on: { url: http://127.0.0.1/1 }, off: { url: http://127.0.0.1/0 } }\n'

  test.each([
    [
      'rules:\n  - { name: A, labels: [boar], fire: [siren] }',
      4,
      39,
      'rules.0.fire.0: There is no deterrent siren; there is valve.',
    ],
    [
      'rules:\n  - { name: A, labels: [boar], fire: [valve], hours: sunset-sunrise }',
      4,
      54,
      'rules.0.hours: Hours that follow the sun need `site` with latitude and longitude.',
    ],
    [
      'learning: { hours: sunset-sunrise }',
      3,
      20,
      'learning.hours: Hours that follow the sun need `site` with latitude and longitude.',
    ],
    [
      'rules:\n  - { name: A, labels: [boar], fire: [valve], seconds: [5, 12] }',
      4,
      56,
      'rules.0.seconds: valve fires for at most 10 s (its `maximumSeconds`).',
    ],
    [
      'rules:\n  - { name: A, labels: [boar], fire: [valve], hours: 22-6 }',
      4,
      54,
      'rules.0.hours: Write 22:00-06:00 instead.',
    ],
    [
      'rules:\n  - { name: A, labels: [boar], fire: [valve] }\n  - { name: A, labels: [deer], fire: [valve] }',
      5,
      13,
      'rules.1.name: Another rule has this name.',
    ],
    [
      'rules:\n  - { name: A, labels: [deer], fire: [valve], aboutPersons: true }',
      4,
      61,
      'rules.0.aboutPersons: A rule about persons has `person` among its labels.',
    ],
    ['rules: { a: 1 }', 3, 8, 'rules: This must be a list.'],
    ['site: { latitude: 52 }', 3, 7, 'site: Give latitude and longitude, or neither.'],
    [
      'site: { timeZone: Europe/Nowhere }',
      3,
      19,
      'site.timeZone: This is not the name of a time zone, such as Europe/Berlin.',
    ],
  ])('whose parts do not fit together has an error: %j at line %d, column %d', (text, line, column, message) => {
    expect(parse(deterrent + text).errors).toMatchObject([{ line, column, message }])
  })

  test('with too many nested aliases is refused', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level++) {
      const [name, before] = [String.fromCodePoint(97 + level), String.fromCodePoint(96 + level)]
      bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`)
    }
    expect(parse(bomb.join('\n'))).toEqual({
      errors: [{ line: 7, column: 28, message: 'The file uses too many aliases.' }],
    })
  })
})

test('an edit takes effect while the agent runs; a bad one leaves the last good file and is a problem', async () => {
  const path = join(folder, 'gateway.yaml')
  const file = await watchDeviceFile(path, { log: pino({ level: 'silent' }) })
  try {
    expect(file.current().sources.api).toBeUndefined()
    expect(file.problems()).toEqual([])
    writeFileSync(path, 'sources: { api: { loopbackNeedsToken: false } }')
    await expect.poll(() => file.current().sources.api).toEqual({ loopbackNeedsToken: false })
    writeFileSync(path, 'sources: { api: { loopbackNeedsToken: perhaps } }')
    await expect
      .poll(() => file.problems())
      .toEqual(['gateway.yaml line 1, column 39: sources.api.loopbackNeedsToken: This must be true or false.'])
    expect(file.current().sources.api).toEqual({ loopbackNeedsToken: false })
    rmSync(path)
    await expect.poll(() => file.current().sources.api).toBeUndefined()
    expect(file.problems()).toEqual([])
  } finally {
    await file.stop()
  }
})

test('a file with warnings is in force, and the log has them', async () => {
  const path = join(folder, 'gateway.yaml')
  writeFileSync(path, 'cameras: { gate: { url: "rtsp://viewer:${GATE}@198.18.0.1/" } }')
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
  const file = await watchDeviceFile(path, { log, environment: { GATE: 'a%40b' } })
  await file.stop()
  expect(file.current().cameras['gate']).toBeDefined()
  expect(lines).toEqual([expect.stringContaining('GATE looks percent-encoded')])
  expect(lines.join()).not.toContain('a%40b')
})
