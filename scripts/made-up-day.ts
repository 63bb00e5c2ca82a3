import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Detection, Heartbeat } from '@hedgerow/contract'
import type { TestGateway } from '../test/harness/gateway.ts'
import type { Arrival } from './demo-arrivals.ts'

/** A device without cameras: a program reports what it would see. */
type Device = Arrival & {
  cameras: { name: string; fps: number }[]
  deterrents: Heartbeat['deterrents']
  /** Each detection's label and severity, and its camera; any camera when unset. */
  visitors: { label: string; severity: Detection['severity']; camera?: string; deterrent?: string }[]
}

/** The devices of the dashboard on the public site. */
export const fleet: Device[] = [
  {
    name: 'North orchard',
    location: 'Row 12, by the stream',
    isApproved: true,
    cameras: [
      { name: 'orchard-gate', fps: 15 },
      { name: 'orchard-east', fps: 15 },
    ],
    deterrents: [{ name: 'Sprinkler row 12', state: 'ready' }],
    visitors: [
      { label: 'deer', severity: 'alert', deterrent: 'Sprinkler row 12' },
      { label: 'boar', severity: 'alert', deterrent: 'Sprinkler row 12' },
      { label: 'hare', severity: 'detection' },
      { label: 'person', severity: 'detection' },
    ],
  },
  {
    name: 'Barn',
    location: 'Yard, south wall',
    isApproved: true,
    cameras: [
      { name: 'yard', fps: 30 },
      { name: 'hayloft', fps: 10 },
      { name: 'hen-house', fps: 10 },
    ],
    deterrents: [{ name: 'Yard siren', state: 'ready' }],
    visitors: [
      { label: 'fox', severity: 'alert', camera: 'hen-house', deterrent: 'Yard siren' },
      { label: 'person', severity: 'detection', camera: 'yard' },
      { label: 'cat', severity: 'detection', camera: 'hayloft' },
      { label: 'tractor', severity: 'detection', camera: 'yard' },
    ],
  },
  {
    name: 'River gate',
    location: 'Lower meadow',
    isApproved: false,
    cameras: [{ name: 'footbridge', fps: 15 }],
    deterrents: [],
    visitors: [{ label: 'heron', severity: 'detection' }],
  },
]

const HISTORY_HOURS = 24
const HISTORY_PER_DEVICE = 40

/** Reports made-up cameras and detections of the past day to the gateway's local API. */
export async function giveHistory(gateway: TestGateway): Promise<void> {
  await reportCameras(gateway)
  await gateway.localApi.reportDetections(history(deviceOf(gateway)))
}

export async function reportCameras(gateway: TestGateway): Promise<void> {
  const { cameras, deterrents } = deviceOf(gateway)
  await gateway.localApi.patchStatus({
    cameras: cameras.map(({ name, fps }) => ({ name, state: 'online', fps: rounded(fps - Math.random() * 0.6) })),
    detectors: [{ name: 'primary', inferenceMs: rounded(9 + Math.random() * 4) }],
    deterrents,
  })
}

/** More detections at dusk and dawn; the last one is now, and an alert where the device has any. */
function history(device: Device): Detection[] {
  const nowMs = Date.now()
  const visits: Detection[] = []
  while (visits.length < HISTORY_PER_DEVICE) {
    const atMs = nowMs - Math.random() * HISTORY_HOURS * 3_600_000
    const hour = new Date(atMs).getHours()
    const isTwilight = (hour >= 5 && hour <= 8) || (hour >= 18 && hour <= 22)
    if (isTwilight || Math.random() < 0.3) visits.push(visit(device, atMs))
  }
  const past = visits.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
  return [...past, visit(device, nowMs, device.visitors[0])]
}

function visit(device: Device, atMs: number, visitor = pick(device.visitors)): Detection {
  const { label, severity, camera = pick(device.cameras).name, deterrent } = visitor
  return {
    id: randomUUID(),
    camera,
    label,
    severity,
    score: rounded(0.7 + Math.random() * 0.29),
    startedAt: new Date(atMs).toISOString(),
    endedAt: new Date(atMs + 4_000 + Math.random() * 20_000).toISOString(),
    thumbnail: frameOf(label),
    ...(deterrent === undefined ? {} : { deterrent }),
  }
}

/** A camera's picture as a JPEG in base64: a drawing made by `npm run pictures`. */
export function frameOf(label: string): string {
  return readFileSync(join(import.meta.dirname, 'demo-frames', `${label}.jpg`), 'base64')
}

function deviceOf(gateway: TestGateway): Device {
  return fleet.find(({ name }) => name === gateway.name)!
}

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)]!
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
