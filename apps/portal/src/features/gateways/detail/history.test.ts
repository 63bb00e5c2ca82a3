import type { GatewayHour } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { describeLoad, describeMemory, describeTraffic } from './history.ts'

const quiet: GatewayHour = {
  hour: '2026-11-21T08:00:00.000Z',
  heartbeats: 0,
  load: null,
  memory: null,
  disk: null,
  temperature: null,
  receivedBytes: 0,
  sentBytes: 0,
}
const span = (mean: number, max: number) => ({ mean, max })
const busy = (load: number): GatewayHour => ({
  ...quiet,
  heartbeats: 120,
  load: span(load / 2, load),
  memory: span(0.4, 0.5),
  receivedBytes: 1_500_000,
  sentBytes: 20_000,
})

it('gives the highest load and memory of the known hours', () => {
  const hours = [quiet, busy(0.3), busy(16.44), quiet]
  expect(describeLoad(hours)).toBe('Load at most 16.4 per core.')
  expect(describeMemory(hours)).toBe('Memory at most 50 %.')
})

it('gives neither for a device without heartbeats', () => {
  const hours = [quiet, { ...quiet, receivedBytes: 10 }]
  expect([describeLoad(hours), describeMemory(hours)]).toEqual([undefined, undefined])
})

it('adds up the traffic both ways', () => {
  expect(describeTraffic([busy(0.1), quiet, busy(0.1)])).toBe('3.00 MB from the gateway, 40.0 kB to it.')
})
