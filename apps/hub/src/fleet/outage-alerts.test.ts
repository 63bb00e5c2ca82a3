import { describe, expect, it } from 'vitest'
import { announcementOf } from '../followers/notifications.ts'
import type { FleetStatus } from './fleet.ts'
import { createOutageAlerts, HOLD_OFF_MS } from './outage-alerts.ts'

const DAY_MS = 86_400_000
const start = 1_000 * DAY_MS

const barn = (status: FleetStatus['status'], lastSeenAt: number | undefined = start): FleetStatus => ({
  id: 'barn',
  name: 'Barn',
  ownerId: null,
  publicKey: '',
  queue: undefined,
  status,
  reason: 'no heartbeat for 5 min',
  lastSeenAt,
})

describe('a gateway that goes silent', () => {
  it('is announced once, after the hold-off', () => {
    const watch = createOutageAlerts()
    expect(watch.observe([barn('offline')], start)).toEqual([])
    expect(watch.observe([barn('offline')], start + HOLD_OFF_MS - 1)).toEqual([])
    const [told, ...more] = watch.observe([barn('offline')], start + HOLD_OFF_MS)
    expect(announcementOf(told!)).toMatchObject({ title: 'Gateway "Barn" is offline', text: 'no heartbeat for 5 min' })
    expect(more).toEqual([])
    expect(watch.observe([barn('offline')], start + 2 * HOLD_OFF_MS)).toEqual([])
  })

  it('is not announced when it comes back in time', () => {
    const watch = createOutageAlerts()
    watch.observe([barn('offline')], start)
    watch.observe([barn('online')], start + HOLD_OFF_MS - 1_000)
    expect(watch.observe([barn('offline')], start + HOLD_OFF_MS)).toEqual([])
  })

  it('has the same key for one outage after a restart of the hub, and another for the next', () => {
    const keyOf = (lastSeenAt: number) => {
      const watch = createOutageAlerts()
      watch.observe([barn('offline', lastSeenAt)], start)
      return announcementOf(watch.observe([barn('offline', lastSeenAt)], start + HOLD_OFF_MS)[0]!)!.key
    }
    expect(keyOf(start)).toBe(keyOf(start))
    expect(keyOf(start)).not.toBe(keyOf(start + 1_000))
  })

  it('is not announced when it was never online, or has been offline for a week', () => {
    for (const lastSeenAt of [undefined, start - 8 * DAY_MS]) {
      const watch = createOutageAlerts()
      const gone = { ...barn('offline'), lastSeenAt }
      watch.observe([gone], start)
      expect(watch.observe([gone], start + HOLD_OFF_MS)).toEqual([])
    }
  })

  it('with a warning is announced once a day', () => {
    const keysAt = (at: number) => {
      const watch = createOutageAlerts()
      watch.observe([barn('warning')], at)
      return announcementOf(watch.observe([barn('warning')], at + HOLD_OFF_MS)[0]!)!.key
    }
    expect(keysAt(start)).toBe(keysAt(start + 3_600_000))
    expect(keysAt(start)).not.toBe(keysAt(start + DAY_MS))
  })
})
