import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRecord, readNames, readRecord, type DetectionRecord, type RecordOptions } from './record.ts'

const NOW = Date.parse('2026-05-01T12:00:00Z')
const DAY_MS = 86_400_000

let folder: string
let path: string
let now: number
const opened = new Set<DetectionRecord>()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-record-'))
  path = join(folder, 'record.sqlite')
  now = NOW
})

afterEach(() => {
  for (const record of opened) record.close()
  opened.clear()
  rmSync(folder, { recursive: true })
})

function open(settings = { days: 14, megabytes: 200 }): DetectionRecord {
  const options: RecordOptions = { settings: () => settings, log: pino({ level: 'silent' }), clock: () => now }
  const record = openRecord(path, options)
  opened.add(record)
  return record
}

function seen(id: string, more: Partial<Detection> = {}): Detection {
  return {
    id,
    camera: 'orchard',
    label: 'boar',
    severity: 'alert',
    score: 0.5,
    startedAt: new Date(now).toISOString(),
    ...more,
  }
}

const ids = (detections: Detection[]) => detections.map(({ id }) => id)

test('the same id again updates a detection; fields that the second report omits stay', () => {
  const record = open()
  const thumbnail = Buffer.from('a picture').toString('base64')
  expect(record.put(seen('a', { thumbnail, validated: true }))).not.toHaveProperty('thumbnail')
  const detection = record.put(seen('a', { score: 0.9, startedAt: '2026-05-01T12:00:05.000Z' }))
  expect(detection).toMatchObject({ score: 0.9, validated: true, startedAt: '2026-05-01T12:00:00.000Z' })
  expect(record.find('a')).toEqual(detection)
  expect(record.picture('a')?.toString()).toBe('a picture')
  expect(record.recent({ limit: 10 })).toHaveLength(1)
})

test('objects stay with their detection, and a rule asks once for each, in whatever detection it is', () => {
  const record = open()
  const fox = { id: 'fox', label: 'fox', score: 0.8, zones: ['run'], startedAt: seen('a').startedAt, isStill: false }
  record.put(seen('a'))
  record.put(seen('b'))
  record.putObjects('a', [fox, { ...fox, id: 'hen', endedAt: fox.startedAt }])
  record.putObjects('a', [fox])
  expect(record.objectsOf('a')).toEqual([fox])
  expect(record.objectsOf('b')).toBeUndefined()
  expect(readRecord(path, { limit: 9 })?.objects).toEqual(new Map([['a', [fox]]]))
  expect([record.markAsked('night', 'a', 'fox'), record.markAsked('night', 'b', 'fox')]).toEqual([true, false])
  expect([record.markAsked('day', 'b', 'fox'), record.markAsked('night', 'b')]).toEqual([true, true])
})

test('recent detections come newest first, of one camera, of one label, of a time', () => {
  const record = open()
  for (const [index, id] of ['a', 'b', 'c'].entries())
    record.put(seen(id, { startedAt: new Date(NOW + index * 1_000).toISOString() }))
  record.put(seen('d', { camera: 'gate', label: 'person' }))
  expect(ids(record.recent({ limit: 2 }))).toEqual(['c', 'b'])
  expect(ids(record.recent({ limit: 9, camera: 'gate' }))).toEqual(['d'])
  expect(ids(record.recent({ limit: 9, label: 'boar', before: NOW + 2_000 }))).toEqual(['b', 'a'])
  expect(ids(record.recent({ limit: 9, label: 'boar', since: NOW + 1_000 }))).toEqual(['c', 'b'])
})

test('a record that a crash left open is whole, and another process can read it meanwhile', () => {
  const first = open()
  first.put(seen('a', { thumbnail: Buffer.from('a picture').toString('base64') }))
  expect(ids(readRecord(path, { limit: 9 })?.detections ?? [])).toEqual(['a'])
  // The first one is not closed, so its journal is as a kill leaves it.
  const second = open()
  expect(ids(second.recent({ limit: 9 }))).toEqual(['a'])
  expect(second.picture('a')?.toString()).toBe('a picture')
  expect(readRecord(join(folder, 'none.sqlite'), { limit: 9 })).toBeUndefined()
})

test('detections older than the configured days are deleted with their pictures', () => {
  const record = open({ days: 2, megabytes: 200 })
  record.put(seen('old', { thumbnail: Buffer.from('x').toString('base64') }))
  now += 3 * DAY_MS
  record.put(seen('new'))
  expect(ids(record.recent({ limit: 9 }))).toEqual(['new'])
  expect(record.picture('old')).toBeUndefined()
})

test('a record that is too large loses its oldest detections, and its file shrinks', () => {
  const record = open({ days: 14, megabytes: 8 })
  const thumbnail = Buffer.alloc(60_000, 1).toString('base64')
  for (let index = 0; index < 400; index++) {
    now += 1_000
    record.put(seen(`d${index}`, { thumbnail }))
  }
  const kept = record.recent({ limit: 1_000 })
  expect(kept.length).toBeGreaterThan(0)
  expect(kept.length).toBeLessThan(300)
  expect(kept[0]!.id).toBe('d399')
  expect(statSync(path).size).toBeLessThan(24_000_000)
})

test('a rule asks once for a detection, also after a restart', () => {
  const first = open()
  first.put(seen('a'))
  expect(first.markAsked('Boar at night', 'a')).toBe(true)
  expect(first.markAsked('Boar at night', 'a')).toBe(false)
  expect(first.markAsked('Deer', 'a')).toBe(true)
  expect(open().markAsked('Boar at night', 'a')).toBe(false)
})

test('a damaged file is set aside, and a new record begins', () => {
  writeFileSync(path, Buffer.alloc(20_000, 'no database'))
  const record = open()
  record.put(seen('a'))
  expect(ids(record.recent({ limit: 9 }))).toEqual(['a'])
  expect(statSync(`${path}.damaged`).size).toBe(20_000)
})

test('a camera of a program is remembered for `days` after the last word about it', () => {
  const record = open()
  record.put(seen('a', { source: 'api', camera: 'yard', zone: 'path' }))
  record.put(seen('b', { source: 'eye' }))
  record.noteProgramCamera('pond')
  now += 10 * DAY_MS
  record.noteProgramCamera('pond')
  now += 5 * DAY_MS
  const again = open()
  expect(again.programCameras()).toEqual(['pond'])
  again.put(seen('c', { source: 'api', camera: 'barn', zone: 'path' }))
  const third = open()
  expect(third.programCameras().toSorted()).toEqual(['barn', 'pond'])
  expect(readNames(path)).toEqual({
    programs: third.programCameras(),
    seen: { cameras: ['barn'], labels: ['boar'], zones: ['path'] },
  })
})
