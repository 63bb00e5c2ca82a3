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
