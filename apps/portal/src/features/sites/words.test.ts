import { siteFields } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { fieldsOf, placeInWords, timeThere, usesInWords, valuesOf } from './words.ts'

test('what is typed becomes a place, and what is wrong is refused at its field', () => {
  const typed = { ...valuesOf(undefined), name: 'Hill', latitude: ' 52,5163 ', longitude: '-13.3', timeZone: ' ' }
  expect(fieldsOf(typed)).toEqual({ name: 'Hill', latitude: 52.5163, longitude: -13.3, timeZone: null, notes: '' })
  const wrong = siteFields.safeParse(fieldsOf({ ...typed, latitude: 'north', timeZone: 'Mars/Base' }))
  expect(wrong.error!.issues.map(({ path, message }) => [path[0], message])).toEqual([
    ['latitude', 'Enter a number'],
    ['timeZone', 'This is no time zone, such as Europe/Berlin'],
  ])
})

test('a place and a time are in words', () => {
  expect(placeInWords({ latitude: 47.5, longitude: -122.25 })).toBe('47.5° N, 122.25° W')
  expect(placeInWords({ latitude: 47.5, longitude: null })).toBeUndefined()
  expect(timeThere('Asia/Tokyo', Date.parse('2026-05-01T03:05:00Z'))).toBe('12:05, Asia/Tokyo')
})

test('a deletion says what it does', () => {
  const none = { gateways: 0, rules: [], hasUpdates: false, invitations: 0, views: 0 }
  expect(usesInWords(none)).toEqual(['No gateway is in it.'])
  expect(usesInWords({ gateways: 2, rules: ['Boars'], hasUpdates: true, invitations: 1, views: 3 })).toEqual([
    '2 gateways stay, and are then in no site.',
    'It cannot be deleted while an alert rule names it: “Boars”.',
    'Its own settings of automatic updates are deleted.',
    '1 invitation then puts gateways in no site.',
    '3 saved views of Threats then find nothing.',
  ])
})
