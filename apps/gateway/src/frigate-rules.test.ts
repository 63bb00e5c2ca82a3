import { afterEach, describe, expect, test } from 'vitest'
import { startFrigateDevice, type FrigateDevice, type FrigateDeviceOptions } from '../testing/frigate-device.ts'
import { DAY_CAMERAS, play, readDay } from '../../../test/harness/frigate-day.ts'
import { skipWithout } from '../../../test/harness/privileges.ts'

/**
 * What the rules of a device make of Frigate's messages: for each tracked object once, whatever the review item says.
 */
let site: FrigateDevice | undefined
afterEach(async () => {
  await site?.stop()
  site = undefined
})

const rule = (name: string, more: object) => ({ name, fire: ['horn'], ...more })

async function start(options: FrigateDeviceOptions): Promise<FrigateDevice> {
  site = await startFrigateDevice(options)
  return site
}

const asked = () => site!.requests()

/** The last word of a test: a rule of its own for what comes to the yard. */
const SENTINEL = rule('sentinel', { labels: ['sentinel'], cameras: ['yard'] })
/** All that was asked once everything that Frigate sent before is decided. */
async function decided({ frigate, horn, device }: FrigateDevice): Promise<string[]> {
  await expect.poll(() => device.deterrents.list()[0]!.state).toBe('ready')
  const last = frigate.see({ camera: 'yard', label: 'sentinel' })
  await expect.poll(async () => (await asked()).at(-1)).toBe('sentinel fired')
  frigate.end(last)
  await expect.poll(() => horn.calls.at(-1)).toBe('off')
  await expect.poll(() => device.deterrents.list()[0]!.state).toBe('ready')
  return (await asked()).slice(0, -1)
}

describe.for(['websocket', 'broker'] as const)('over %s', (over) => {
  test.skipIf(over === 'broker' && skipWithout("Frigate's messages over Mosquitto", 'command mosquitto'))(
    'a score that rises fires, once, without a word on reviews',
    async () => {
      const rules = [rule('sure boar', { labels: ['boar'], minimumScore: 0.8 }), SENTINEL]
      const started = await start({ rules, over })
      const { frigate, detections } = started
      const item = frigate.see({ label: 'boar', score: 0.72, severity: 'detection' })
      const [boar] = item.objects
      await expect.poll(() => detections()[0]?.score).toBe(0.72)
      frigate.move(boar!, { score: 0.93 })
      await expect.poll(asked).toEqual(['sure boar fired'])
      // What people see rises with it, and has the firing.
      await expect.poll(() => detections()[0]).toMatchObject({ id: item.id, score: 0.93, deterrent: 'horn' })
      frigate.move(boar!, { score: 0.97 })
      expect(await decided(started)).toEqual(['sure boar fired'])
    },
  )
})

test('a zone that is entered later fires, and any of several zones counts', async () => {
  const rules = [rule('rows', { labels: ['boar'], zones: ['rows'] }), SENTINEL]
  const started = await start({ rules })
  const { frigate, detections } = started
  const item = frigate.see({ label: 'boar' })
  frigate.move(item.objects[0]!, { zones: ['gate'] })
  expect(await decided(started)).toEqual([])
  frigate.move(item.objects[0]!, { zones: ['gate', 'rows'], currentZones: [] })
  await expect.poll(asked).toEqual(['sentinel fired', 'rows fired'])
  await expect.poll(() => detections().find(({ id }) => id === item.id)?.zone).toBe('rows')
})

test('an animal that has been there for long fires when it enters the zone', async () => {
  const rules = [rule('rows', { labels: ['boar'], zones: ['rows'] })]
  const { frigate, detections } = await start({ rules })
  const item = frigate.see({ label: 'boar', startTime: Date.now() / 1_000 - 3_600 })
  await expect.poll(() => detections()[0]?.label).toBe('boar')
  frigate.move(item.objects[0]!, { zones: ['rows'] })
  await expect.poll(asked).toEqual(['rows fired'])
})

describe('an animal that joins', () => {
  test('an item of another one decides for itself, also when the other one has the higher score', async () => {
    const rules = [rule('badger', { labels: ['badger'] })]
    const { frigate, detections } = await start({ rules })
    const item = frigate.see({ label: 'hare', score: 0.9 })
    await expect.poll(() => detections()[0]?.label).toBe('hare')
    frigate.join(item, { label: 'badger', score: 0.8 })
    await expect.poll(asked).toEqual(['badger fired'])
    // People see what the rule is about, and all else that was there.
    await expect
      .poll(() => detections()[0])
      .toMatchObject({ label: 'badger', score: 0.8, verdicts: [{ reason: 'It saw: hare 0.90, badger 0.80.' }] })
  })

  test('one that began long ago is not too late', async () => {
    const rules = [rule('badger', { labels: ['badger'] })]
    const { frigate, detections } = await start({ rules })
    const item = frigate.see({ label: 'hare', startTime: Date.now() / 1_000 - 660 })
    await expect.poll(() => detections()[0]?.label).toBe('hare')
    frigate.join(item, { label: 'badger', score: 0.97 })
    await expect.poll(asked).toEqual(['badger fired'])
  })

  test('when another one has just left is decided without a word on reviews', async () => {
    const rules = [rule('fox', { labels: ['fox'] })]
    const { frigate, detections } = await start({ rules })
    const item = frigate.see({ label: 'hen', score: 0.95, severity: 'detection' })
    await expect.poll(() => detections()[0]?.label).toBe('hen')
    frigate.leave(item.objects[0]!)
    // The item has as many active objects as before, so Frigate publishes nothing about it.
    frigate.track({ label: 'fox', score: 0.71, severity: 'detection' })
    await expect.poll(asked).toEqual(['fox fired'])
    await expect.poll(() => detections()[0]?.label).toBe('fox')
  })

  test('as the second of its kind decides again, and each only once, also in the next item', async () => {
    const rules = [rule('boar', { labels: ['boar'] }), SENTINEL]
    const started = await start({ rules })
    const { frigate, device } = started
    const item = frigate.see({ label: 'boar' })
    await expect.poll(asked).toEqual(['boar fired'])
    await expect.poll(() => device.deterrents.list()[0]!.state).toBe('ready')
    const second = frigate.join(item, { label: 'boar' })
    await expect.poll(asked).toEqual(['boar fired', 'boar fired'])
    // Frigate ends the item, and the second boar goes on in the next one.
    item.objects = item.objects.filter((object) => object !== second)
    frigate.end(item)
    const next = frigate.see({ label: 'hen', severity: 'detection' })
    frigate.join(next, second)
    frigate.move(second, { score: 0.99 })
    expect(await decided(started)).toEqual(['boar fired', 'boar fired'])
  })
})

describe('fires nothing', () => {
  test.each<[string, (site: FrigateDevice) => void]>([
    [
      'an object that left',
      ({ frigate }) => {
        const hen = frigate.see({ label: 'hen' })
        const boar = frigate.track({ label: 'boar', score: 0.5 })
        boar.topScore = 0.9
        frigate.leave(boar)
        frigate.end(hen)
      },
    ],
    [
      'an object that never moved',
      ({ frigate }) => {
        frigate.see({ label: 'hen' })
        frigate.track({ positionChanges: 0, score: 0.9 })
      },
    ],
    [
      'an object that stands still',
      ({ frigate }) => {
        const item = frigate.see({ score: 0.5 })
        frigate.move(item.objects[0]!, { stationary: true, score: 0.9 })
      },
    ],
    [
      'what Frigate is not sure of',
      ({ frigate }) => {
        const item = frigate.see({ label: 'hen' })
        const after = { id: 'unsure', camera: item.camera, label: 'boar', score: 0.9, false_positive: true }
        frigate.publish('events', { type: 'update', before: after, after })
      },
    ],
    [
      "what Frigate's settings do not want to be reviewed",
      ({ frigate }) => {
        frigate.see({ label: 'hen' })
        const boar = frigate.track({ label: 'boar', score: 0.5, severity: null })
        frigate.move(boar, { score: 0.9 })
      },
    ],
    [
      'a replay',
      ({ frigate }) => {
        frigate.cameras.set('_replay_orchard', { ...frigate.cameras.get('orchard')! })
        frigate.see({ camera: '_replay_orchard', score: 0.9 })
      },
    ],
  ])('%s', async (_what, happens) => {
    const rules = [rule('boar', { labels: ['boar'], minimumScore: 0.8 }), SENTINEL]
    const started = await start({ rules })
    happens(started)
    expect(await decided(started)).toEqual([])
  })

  test('what began more than ten minutes ago during an outage, and of which no message comes', async () => {
    const started = await start({ rules: [rule('boar', { labels: ['boar'] }), SENTINEL] })
    const { frigate, detections } = started
    await frigate.stop()
    const missed = frigate.see({ startTime: Date.now() / 1_000 - 700 })
    await frigate.start()
    await expect.poll(() => detections().map(({ id }) => id)).toEqual([missed.id])
    expect(await decided(started)).toEqual([])
  })

  test('what happened during an outage, and is over', async () => {
    const started = await start({ rules: [rule('boar', { labels: ['boar'] }), SENTINEL] })
    const { frigate, detections } = started
    await frigate.stop()
    const missed = frigate.see({ startTime: Date.now() / 1_000 - 20 })
    frigate.end(missed, Date.now() / 1_000 - 5)
    await frigate.start()
    await expect.poll(() => detections().map(({ id }) => id)).toEqual([missed.id])
    expect(await decided(started)).toEqual([])
  })
})

describe('a person', () => {
  const rules = [rule('boar', { labels: ['boar'] }), SENTINEL]

  test.each<[string, (site: FrigateDevice) => void]>([
    ['of any score beside the boar', ({ frigate }) => void frigate.track({ label: 'person', score: 0.5 })],
    ['whom Frigate does not review', ({ frigate }) => void frigate.track({ label: 'person', severity: null })],
    ['who never moved', ({ frigate }) => void frigate.track({ label: 'person', positionChanges: 0 })],
    ['with an attribute', ({ frigate }) => void frigate.see({ label: 'person', subLabel: 'amazon' })],
    ['with a known face', ({ frigate }) => void frigate.see({ label: 'person', subLabel: 'Ann' })],
    ['whom a program reports', ({ frigate }) => void frigate.create('orchard', 'person', { subLabel: 'Bob' })],
    [
      'whom Frigate only names in its item',
      ({ frigate }) => {
        frigate.behaviour.answer = {
          path: /\/api\/events\//,
          with: (_request, response) => void response.writeHead(500).end(),
        }
        const item = frigate.create('orchard', 'visitor')
        item.objects[0]!.label = 'person'
        item.objects[0]!.by = 'object'
        item.objects[0]!.subLabel = 'amazon'
        frigate.update(item)
      },
    ],
  ])('%s blocks the rule', async (_what, comes) => {
    const { frigate } = await start({ rules })
    comes(site!)
    const item = [...frigate.reviews.values()].find(({ endTime }) => endTime === null)
    if (item) frigate.join(item, { label: 'boar' })
    else frigate.see({ label: 'boar' })
    await expect.poll(asked).toEqual(['boar person_near'])
  })

  test('who joins ends what is firing', async () => {
    const { frigate, horn, device } = await start({ rules, horn: { seconds: 60, maximumSeconds: 60 } })
    const item = frigate.see({ label: 'boar' })
    await expect.poll(asked).toEqual(['boar fired'])
    expect(horn.isOn()).toBe(true)
    frigate.join(item, { label: 'person', score: 0.4, severity: 'detection' })
    await expect.poll(() => horn.isOn()).toBe(false)
    const newest = async () => (await device.deterrents.ledger({ limit: 1 }))[0]!.message
    await expect.poll(newest).toMatch(/a person was seen on orchard/)
  })
})

test('what happened during an outage, and goes on, fires when the connection is back', async () => {
  const { frigate } = await start({ rules: [rule('boar', { labels: ['boar'], zones: ['rows'] })] })
  await frigate.stop()
  frigate.see({ zones: ['gate', 'rows'], startTime: Date.now() / 1_000 - 20 })
  await frigate.start()
  await expect.poll(asked).toEqual(['boar fired'])
})

test('an event of a program and a sound are decided too, though no message on events tells of them', async () => {
  const rules = [rule('button', { labels: ['alarm'], minimumScore: 1 }), rule('bark', { labels: ['bark'] })]
  const { frigate, device, detections } = await start({ rules })
  // A score is any number there.
  frigate.create('orchard', 'alarm', { subLabel: 'x'.repeat(150), score: 90 })
  await expect.poll(asked).toEqual(['button fired'])
  await expect.poll(() => device.deterrents.list()[0]!.state).toBe('ready')
  frigate.hear('yard', 'bark')
  await expect.poll(asked).toEqual(['button fired', 'bark fired'])
  expect(detections().map(({ label, score }) => [label, score])).toEqual([
    ['alarm', 1],
    ['bark', 0],
  ])
})

test('a dry run decides for each object too', async () => {
  const rules = [rule('fox', { labels: ['fox'], zones: ['rows'] })]
  const { frigate, device } = await start({ rules })
  const item = frigate.see({ label: 'hen', score: 0.95, startTime: Date.now() / 1_000 - 5 })
  const fox = frigate.join(item, { label: 'fox', score: 0.6 })
  frigate.move(fox, { zones: ['rows', 'gate'] })
  await expect.poll(asked).toEqual(['fox fired'])
  frigate.end(item)
  await expect.poll(() => device.record.find(item.id)?.endedAt).toBeDefined()
  const { dryRun } = await import('./rules/dry-run.ts')
  const run = dryRun(device.file.current(), [device.record.find(item.id)!], device.record.objectsOf)
  expect(run.fired).toEqual({ fox: 1 })
  expect(run.detections.map(({ detection, answers }) => [detection.label, answers[0]!.text])).toEqual([
    ['hen', 'no, the label is hen'],
    ['fox', 'fires horn for 1 s'],
  ])
})

describe.for(['websocket', 'broker'] as const)('a recorded day over %s', (over) => {
  const on = (camera: string, label: string, more: object = {}) =>
    rule(`${label} on ${camera}`, { labels: [label], cameras: [camera], ...more })

  test.skipIf(over === 'broker' && skipWithout("Frigate's messages over Mosquitto", 'command mosquitto'))(
    'is decided object by object',
    async () => {
      const { frigate, device, detections } = await start({
        over,
        // A rule looks at its own cameras.
        horn: { watchedBy: [] },
        frigate: { version: '0.18', cameras: Object.fromEntries(DAY_CAMERAS.map((name) => [name, {}])) },
        rules: [
          on('orchard', 'boar', { minimumScore: 0.8 }),
          on('yard', 'fox', { zones: ['run'] }),
          on('gate', 'deer', { zones: ['rows'] }),
          on('barn', 'badger'),
          on('pond', 'boar'),
          on('meadow', 'boar'),
          on('track', 'car', { minimumScore: 0.8 }),
          on('shed', 'alarm'),
          on('wood', 'bark'),
          on('lane', 'boar'),
        ],
      })
      const expected: Record<string, string[]> = {
        'a score that rises': ['boar on orchard fired'],
        'hens hide a fox': ['fox on yard fired'],
        'two zones at once': ['deer on gate fired'],
        'a badger joins after eleven minutes': ['badger on barn fired'],
        'a person with a parcel': ['boar on pond person_near'],
        'a replay': ['boar on meadow fired'],
        'a car that is parked': [],
        'a program whose event nobody ends': ['alarm on shed fired'],
        'a sound': ['bark on wood fired'],
        'what was no boar': [],
      }
      const so = []
      for (const { name, messages } of readDay()) {
        for (const message of messages) {
          const id = play(frigate, message)
          // As fast as the device follows: its record has each item before the next message.
          if (message.topic !== 'reviews') continue
          const isEnd = message.payload.startsWith('{"type":"end"')
          await expect.poll(() => device.record.find(id)?.[isEnd ? 'endedAt' : 'id']).toBeDefined()
        }
        so.push(...expected[name]!)
        await expect.poll(asked).toEqual(so)
        await expect.poll(() => device.deterrents.list()[0]!.state).toBe('ready')
      }
      // What people see: one incident for each item, with what matters most in it.
      expect(
        detections()
          .map(({ camera, label }) => `${label} on ${camera}`)
          .toSorted(),
      ).toEqual([
        'alarm on shed',
        'badger on barn',
        'bark on wood',
        'boar on meadow',
        'boar on orchard',
        'car on track',
        'deer on gate',
        'fox on yard',
        'hen on lane',
        'person on pond',
      ])
    },
  )
})
