import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openComparison, type DeviceParts } from './comparison.ts'

type State<Part extends 'cameras' | 'deterrents'> = DeviceParts[Part][number]['state']

let folder: string
let now: DeviceParts
let time: number
beforeEach(() => {
  time = 0
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-comparison-'))
  now = partsOf({ yard: 'online', dead: 'offline' }, { siren: 'ready', broken: 'fault' })
})
afterEach(() => rmSync(folder, { recursive: true }))

function partsOf(
  cameras: Record<string, State<'cameras'>>,
  deterrents: Record<string, State<'deterrents'>>,
  { isGuarded = true, guardsLost = 0, waiting = 0 } = {},
): DeviceParts {
  return {
    cameras: Object.entries(cameras).map(([name, state]) => ({ name, state, fps: 1 })),
    deterrents: Object.entries(deterrents).map(([name, state]) => ({ name, state })),
    isGuarded,
    guardsLost,
    waiting,
  }
}
const file = () => join(folder, 'gateway.yaml')
const open = () =>
  openComparison(join(folder, 'before-update.json'), {
    deviceFile: file(),
    parts: () => now,
    recentMs: 120_000,
    clock: () => time,
    log: pino({ level: 'silent' }),
  })

it('names what worked before, until it works again, and once it has not worked for two minutes', async () => {
  await (await open()).remember()
  now = partsOf(
    { yard: 'offline', dead: 'offline' },
    { siren: 'fault', broken: 'fault' },
    { isGuarded: false, waiting: 3 },
  )
  const comparison = await open()
  const everything = [
    'camera yard gives no picture',
    'deterrent siren does not answer',
    'the process that guards the deterrents does not run',
    'no detection reaches the hub',
  ]
  expect(await comparison.missing()).toEqual(everything)
  now = partsOf({}, {}, { isGuarded: false, waiting: 3 })
  expect(await comparison.missing()).toEqual([everything[0], everything[1], everything[3]])
  now = partsOf({ yard: 'online' }, { siren: 'active' })
  time += 120_001
  expect(await comparison.missing()).toEqual([])
  now = partsOf({ yard: 'offline' }, { siren: 'fault' }, { waiting: 9 })
  time += 120_000
  expect(await comparison.missing()).toEqual([])
  time += 1
  expect(await comparison.missing()).toEqual([everything[0], everything[1], everything[3]])
})

it('forgives a camera, a device and a queue that are away for a moment again and again', async () => {
  await (await open()).remember()
  const comparison = await open()
  const missed: string[] = []
  for (; time < 600_000; time += 5_000) {
    now =
      time % 60_000 === 0
        ? partsOf({ yard: 'online' }, { siren: 'ready' })
        : partsOf({ yard: 'offline' }, { siren: 'fault' }, { waiting: 1 + time })
    missed.push(...(await comparison.missing()))
  }
  expect(missed).toEqual([])
})

it('names a guarding process that is lost again and again, although it runs at each look', async () => {
  await (await open()).remember()
  const comparison = await open()
  expect(await comparison.missing()).toEqual([])
  now.guardsLost = 1
  const missing = ['the process that guards the deterrents does not run']
  expect(await comparison.missing()).toEqual(missing)
  time += 120_000
  expect(await comparison.missing()).toEqual(missing)
  time += 1
  expect(await comparison.missing()).toEqual([])
})

it('expects detections to go on their way where none waited before', async () => {
  await (await open()).remember()
  now = partsOf({ yard: 'online' }, { siren: 'ready' }, { waiting: 5 })
  const comparison = await open()
  expect(await comparison.missing()).toEqual(['no detection reaches the hub'])
  now.waiting = 6
  expect(await comparison.missing()).toEqual(['no detection reaches the hub'])
  now.waiting = 4
  expect(await comparison.missing()).toEqual([])
})

it('does not miss what did not work before, what is switched off, and what somebody removed', async () => {
  writeFileSync(file(), 'cameras: {}')
  now.waiting = 12
  await (await open()).remember()
  now = partsOf({ yard: 'disabled' }, { siren: 'ready' }, { waiting: 30 })
  const comparison = await open()
  expect(await comparison.missing()).toEqual([])
  now = partsOf({}, {})
  const other = await open()
  expect(await other.missing()).toEqual(['camera yard gives no picture', 'deterrent siren does not answer'])
  writeFileSync(file(), 'cameras: { barn: {} }')
  expect(await other.missing()).toEqual([])
})

it('expects what worked in the two minutes before, also when it was away for a moment at the update', async () => {
  const version = await open()
  version.look()
  time += 60_000
  now = partsOf({ yard: 'offline', dead: 'offline' }, { siren: 'fault' }, { waiting: 2 })
  await version.remember()
  now = partsOf({ yard: 'offline', dead: 'offline' }, { siren: 'fault' }, { isGuarded: false, waiting: 3 })
  expect(await (await open()).missing()).toEqual([
    'camera yard gives no picture',
    'deterrent siren does not answer',
    'the process that guards the deterrents does not run',
    'no detection reaches the hub',
  ])
  time += 120_000
  await version.remember()
  expect(await (await open()).missing()).toEqual([])
})

it('compares nothing without a readable memory', async () => {
  now = partsOf({}, {}, { isGuarded: false, waiting: 9 })
  expect(await (await open()).missing()).toEqual([])
  writeFileSync(join(folder, 'before-update.json'), '{"cameras":')
  expect(await (await open()).missing()).toEqual([])
})
