import type { Heartbeat } from '@hedgerow/contract'

/** The heartbeat of a healthy device. */
export function testHeartbeat(now: number, change: Partial<Heartbeat> = {}): Heartbeat {
  return {
    bootId: 'boot-one',
    sequence: 1,
    uptimeSeconds: 60,
    version: '2.0.0',
    clock: Math.floor(now),
    load: 0.1,
    memory: 0.2,
    disk: 0.3,
    temperature: 40,
    cameras: [],
    detectors: [],
    deterrents: [],
    problems: [],
    ...change,
  }
}
