import { expect, test } from 'vitest'
import { createLoadGauge } from './load.ts'

test('one IPv6 host is its /64, however many addresses it takes', () => {
  const gauge = createLoadGauge(0)
  const admitted = Array.from({ length: 20 }, (_, i) => gauge.admits(`2001:db8:0:1::${i}`, 0))
  expect(admitted.filter(Boolean)).toHaveLength(5)
  expect(gauge.admits('2001:db8:0:2::1', 0)).toBe(true)
  expect(gauge.admits('fe80::1%eth0', 0)).toBe(true)
})

test('the table of sources ends, those in it keep their rate, and a quiet second empties it', () => {
  const gauge = createLoadGauge(0)
  for (let i = 0; i < 8_192; i++) gauge.admits(`10.${i >> 8}.${i & 0xff}.1`, 0)
  expect(gauge.admits('192.0.2.1', 0)).toBe(false)
  expect(gauge.admits('10.0.0.1', 0)).toBe(true)
  expect(gauge.admits('192.0.2.1', 1_000)).toBe(true)
})

test('whoever keeps asking too fast is still admitted 20 times a second', () => {
  const gauge = createLoadGauge(0)
  let admitted = 0
  for (let ms = 0; ms < 10_000; ms++) if (gauge.admits('192.0.2.1', ms)) admitted++
  expect(admitted).toBeGreaterThanOrEqual(200)
  expect(admitted).toBeLessThanOrEqual(206)
})

test('a source that waited has five at once and no more', () => {
  const gauge = createLoadGauge(0)
  gauge.admits('192.0.2.1', 0)
  const admitted = Array.from({ length: 10 }, () => gauge.admits('192.0.2.1', 999))
  expect(admitted.filter(Boolean)).toHaveLength(5)
})

test('load lasts a second after the last message that was too many, whatever second they are counted in', () => {
  const gauge = createLoadGauge(3)
  for (let i = 0; i < 3; i++) gauge.count(0)
  expect(gauge.count(900)).toBe(true)
  expect(gauge.count(1_899)).toBe(true)
  expect(gauge.count(1_900)).toBe(false)
})
