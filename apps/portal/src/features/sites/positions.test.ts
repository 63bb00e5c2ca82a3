import type { Site } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { distanceInWords, metresBetween, plotOf } from './positions.ts'

const site = (name: string, latitude: number | null, longitude: number | null): Site => ({
  id: name,
  name,
  latitude,
  longitude,
  timeZone: null,
  notes: '',
  gateways: 0,
})
const BERLIN = site('Berlin', 52.52, 13.405)
const HAMBURG = site('Hamburg', 53.55, 9.993)

test('distances are those of the globe', () => {
  expect(metresBetween({ latitude: 52.52, longitude: 13.405 }, { latitude: 53.55, longitude: 9.993 })).toBeCloseTo(
    255_500,
    -3,
  )
  expect([84, 4_213, 255_400].map(distanceInWords)).toEqual(['84 m', '4.2 km', '255 km'])
})

test('north is above, west is left, and each has its nearest neighbour', () => {
  const plot = plotOf([BERLIN, HAMBURG, site('Nowhere', null, null)])!
  const [berlin, hamburg] = plot.positions
  expect(plot.positions).toHaveLength(2)
  expect(hamburg!.x).toBeLessThan(berlin!.x)
  expect(hamburg!.y).toBeLessThan(berlin!.y)
  expect(berlin!.nearest).toMatchObject({ name: 'Hamburg' })
  // A quarter of the width or less, and a round number.
  expect(plot.scale.metres).toBe(50_000)
  expect(plot.scale.percent).toBeLessThanOrEqual(25)
})

test('one site is in the middle, and sites on both sides of the date line are neighbours', () => {
  expect(plotOf([BERLIN])!.positions).toMatchObject([{ x: 50, y: 50, nearest: undefined }])
  expect(plotOf([site('Nowhere', null, null)])).toBeUndefined()
  const [west, east] = plotOf([site('West', -17, 179.9), site('East', -17, -179.9)])!.positions
  expect(west!.x).toBeLessThan(east!.x)
  expect(west!.nearest!.metres).toBeLessThan(30_000)
})
