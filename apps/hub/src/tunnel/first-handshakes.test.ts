import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFirstHandshakes } from './first-handshakes.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const keys = (count: number) => Array.from({ length: count }, (_, index) => `key ${index}`)

it('calls a large fleet in order, a few at a time, and a small one at once', () => {
  const called: string[] = []
  const handshakes = createFirstHandshakes((key) => {
    called.push(key)
    handshakes.arrived(key)
  })
  for (const key of keys(1_000)) handshakes.call(key)
  expect(called).toEqual([])
  vi.advanceTimersByTime(0)
  expect(called).toEqual(keys(20))
  vi.advanceTimersByTime(1_000)
  expect(called.length).toBe(420)
  vi.advanceTimersByTime(2_000)
  expect(called).toEqual(keys(1_000))
  handshakes.call('late')
  vi.advanceTimersByTime(0)
  expect(called.at(-1)).toBe('late')
})

it('leaves out those that came by themselves, which count too', () => {
  const called: string[] = []
  const handshakes = createFirstHandshakes((key) => called.push(key))
  for (const key of keys(100)) handshakes.call(key)
  vi.advanceTimersByTime(0)
  for (const key of keys(100).slice(40, 70)) handshakes.arrived(key)
  // Of the two next turns' forty, thirty came by themselves.
  vi.advanceTimersByTime(100)
  expect(called).toEqual(keys(30))
  vi.advanceTimersByTime(1_000)
  expect(called).toEqual([...keys(40), ...keys(100).slice(70)])
})

it('calls no others while a hundred have not answered, for as long as they may take', () => {
  const called: string[] = []
  const handshakes = createFirstHandshakes((key) => called.push(key))
  for (const key of keys(150)) handshakes.call(key)
  vi.advanceTimersByTime(2_900)
  expect(called).toEqual(keys(100))
  handshakes.arrived('key 7')
  vi.advanceTimersByTime(50)
  expect(called.length).toBe(101)
  vi.advanceTimersByTime(1_000)
  expect(called).toEqual(keys(150))
})

it('calls nobody any more when it is cleared', () => {
  const called: string[] = []
  const handshakes = createFirstHandshakes((key) => called.push(key))
  for (const key of keys(100)) handshakes.call(key)
  handshakes.clear()
  vi.advanceTimersByTime(1_000)
  expect(called).toEqual([])
})
