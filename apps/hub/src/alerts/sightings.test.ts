import { expect, it } from 'vitest'
import { addSighting, dueAtOf, keyOf, tallyAsJson, tallyIn } from './sightings.ts'
import { titleOf, type Line } from './words.ts'

const line = (label: string, site: string, camera = 'gate'): Line => ({
  kind: 'detection',
  id: `${label} ${site} ${camera}`,
  gatewayId: site,
  gatewayName: `Gateway of ${site}`,
  site,
  camera,
  label,
  detail: '',
  coverId: null,
  startedAt: 0,
})
const told = (lines: readonly Line[]) => {
  const tally = tallyIn(null)
  for (const one of lines) addSighting(tally, one)
  return { lines, count: lines.length, sightings: [...tallyIn(tallyAsJson(tally)).values()] }
}
const times = (count: number, one: Line) => Array.from({ length: count }, () => one)

it('a title names kinds, sites and numbers, people first', () => {
  const lines = [
    ...times(5, line('deer', 'Mill')),
    ...times(4, line('boar', 'Ford')),
    ...times(2, line('person', 'Oak')),
    line('person', 'Mill', 'yard'),
  ]
  expect(titleOf(told(lines), { language: 'en', timeZone: 'UTC' })).toBe(
    '12 sightings at 3 sites: 3 people, 5 deer, 4 boar',
  )
  expect(titleOf(told(lines), { language: 'de', timeZone: 'UTC' })).toBe(
    '12 Sichtungen an 3 Orten: 3× Person, 5× Reh, 4× Wildschwein',
  )
  expect(titleOf(told(times(2, line('fox', 'Mill'))))).toBe('2 sightings at Mill: 2 foxes')
  expect(titleOf(told(times(2, { ...line('fox', ''), gatewayName: 'Barn' })))).toBe('2 sightings at Barn: 2 foxes')
})

it('many labels are counted whole, and the last ones together', () => {
  const many = Array.from({ length: 400 }, (_, i) => line(`animal ${i}`, 'Mill'))
  expect(titleOf(told(many))).toMatch(/^400 sightings at /)
  expect(told(many).sightings.reduce((sum, { count }) => sum + count, 0)).toBe(400)
})

const rule = { collectSeconds: 10, coolDownSeconds: 300 }
const due = (at: number, lines: readonly Line[], ...sent: readonly (readonly [number, readonly Line[]])[]) =>
  dueAtOf(
    { at: at * 1_000, keys: lines.map(keyOf) },
    sent.map(([dueAt, of]) => ({ dueAt: dueAt * 1_000, keys: new Set(of.map(keyOf)) })),
    rule,
  ) / 1_000
const deer = line('deer', 'Mill')

it('a label on a camera waits for its own cool-down, and another label, camera or site for none', () => {
  expect(due(0, [deer])).toBe(10)
  expect(due(50, [deer], [10, [deer]])).toBe(310)
  expect(due(309, [deer], [10, [deer]])).toBe(319)
  for (const other of [line('person', 'Mill'), line('deer', 'Mill', 'yard'), line('deer', 'Ford')]) {
    expect(due(50, [other], [10, [deer]])).toBe(60)
    expect(due(50, [deer, other], [10, [deer]])).toBe(60)
  }
  // Of two messages the one with it counts.
  expect(due(200, [deer], [10, [deer]], [100, [line('person', 'Mill')]])).toBe(310)
})

it('a rule sends at most three messages in a cool-down, and waits where nobody stored the kinds', () => {
  const others = [1, 2, 3].map((number) => [number, [line(`animal ${number}`, 'Mill')]] as const)
  expect(due(50, [deer], ...others)).toBe(301)
  expect(dueAtOf({ at: 50_000, keys: [keyOf(deer)] }, [{ dueAt: 10_000, keys: undefined }], rule)).toBe(310_000)
})
