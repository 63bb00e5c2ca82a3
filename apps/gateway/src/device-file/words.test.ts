import { expect, test } from 'vitest'
import { parseDeviceFile } from './parse.ts'

const rule = (text: string) => `rules: [{ name: A, labels: [boar], fire: [], ${text} }]`

test.each([
  ['deterrents: { a: { driver: htp } }', '1:28 deterrents.a.driver: This must be one of command, gpio, http, '],
  [
    'cameras: { a: { url: "http://1.2.3.4/", framesPerSecond: 99 } }',
    '1:58 cameras.a.framesPerSecond: This must be at most 30.',
  ],
  ['sources: { eye: { cameras: [] } }', '1:28 sources.eye.cameras: This must not be empty.'],
  ['site: { latitude: north, longitude: 9 }', '1:19 site.latitude: This must be a number.'],
  [rule('verdict: maybe'), '1:55 rules.0.verdict: This must be any or confirmed.'],
  [rule('hours: 25-30'), '1:53 rules.0.hours: Write hours as 22:00-06:00, '],
  ['updates: { hours: 9 }', '1:19 updates.hours: This must be text (put numbers in quotes). Or: This must be a list.'],
  [
    'cameras: { "a/b": { url: "http://1.2.3.4/" } }',
    '1:19 cameras.a/b: A name has letters from a to z, digits, spaces ',
  ],
  ['camera: {}', '1:9 camera: This key is not known.'],
  ['site: { latitude: 1, longitude: 2 }\n\nb: 1\nc: 2', '4:4 c: This key is not known.'],
])('%s is refused in words, at its line and column', (text, words) => {
  const told = parseDeviceFile(text, { folder: '/tmp', environment: {} }).errors?.map(
    ({ line, column, message }) => `${line}:${column} ${message}`,
  )
  expect(told).toContainEqual(expect.stringContaining(words))
  expect(told!.join('\n')).not.toMatch(/expected|Invalid|>=|<=/)
})

const HORN = '{ driver: http, on: { url: "http://127.0.0.1/on" }, off: { url: "http://127.0.0.1/off" }'
const MQTT = 'driver: mqtt, broker: "mqtt://127.0.0.1", topic: a/set'

test.each([
  [
    `deterrents:\n  a: &a ${HORN} }\n  b: { <<: *a, seconds: 5 }`,
    ['3:8 YAML 1.2 has no `<<`: write the keys out, or use `*name` for the whole group.'],
  ],
  [`deterrents:\n  a: ${HORN} }\n  a: ${HORN} }`, ['3:3 This key is there twice: line 2 has it too.']],
  ['cameras:\n \u00a0 gate: {}', ['2:2 This key has an unusual space (U+00A0). Write a usual one.']],
  ['cameras:\n\tgate: {}', ['2:1 This line begins with a tab. Write spaces.']],
  ['---\ncameras: {}\n---\ncameras: {}', ['3:1 A second document begins here (`---`); the file is one document.']],
  [rule('enabled: yes').replace('fire: []', 'fire: [a]'), ['1:56 rules.0.enabled: This must be true or false.']],
  [
    `deterrents: { a: ${HORN}, seconds: "10" } }\nsite: { latitude: "52,1", longitude: 9.3 }`,
    [
      '2:19 site.latitude: This must be a number. Write 52.1, without quotation marks.',
      '1:117 deterrents.a.seconds: This must be a number. Write 10, without quotation marks.',
    ],
  ],
  [
    `deterrents: { a: { ${MQTT}, on: true, off: 0 } }`,
    [
      '1:80 deterrents.a.on: This must be text (put true and false in quotes).',
      '1:91 deterrents.a.off: This must be text (put numbers in quotes).',
    ],
  ],
  [
    'cameras: { a: { url: \u201chttp://127.0.0.1/x\u201d } }',
    [expect.stringMatching(/an address that begins with .* Its quotation marks are typographic: write " or '\.$/)],
  ],
  [
    'cameras: { a: { url: "rtsp://viewer:p#ss@192.168.1.30/s" } }',
    [expect.stringMatching(/an address that begins with .* In a password write # as %23, \/ as %2F and \? as %3F\.$/)],
  ],
  ['cameras: { Kuhst\u00e4lle: {} }', [expect.stringContaining('A name has letters from a to z, digits, ')]],
  [
    'site: { timeZone: Europe/Berln }',
    [expect.stringMatching(/ not the name of a time zone, such as Europe\/Berlin\. The nearest is Europe\/Berlin\.$/)],
  ],
  [
    `deterrents: { a: ${HORN.replace('http,', 'shely,')} } }`,
    [expect.stringMatching(/driver: This must be one of .* The nearest is shelly\.$/)],
  ],
  [
    rule('hours: 10:00-12:00, days: [mondey]').replace('fire: []', 'fire: [a]'),
    [expect.stringMatching(/days\.0: This must be monday or .* The nearest is monday\.$/)],
  ],
  ['sources: { frigate: {} }', ['1:21 sources.frigate.url: This key is missing.']],
])('%j has an answer that says what is wrong', (text, words) => {
  const told = parseDeviceFile(text, { folder: '/tmp', environment: {} }).errors
  expect(told?.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual(words)
})
