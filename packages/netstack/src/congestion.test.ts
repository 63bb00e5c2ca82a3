import { describe, expect, it } from 'vitest'
import { createCongestionControl } from './congestion.ts'
import { Pacer } from './pacer.ts'
import { ReceiveWindow } from './receive-window.ts'
import { SlowStart } from './slow-start.ts'

const SEGMENT = 1_000

/** Round trips of `roundTripMs`, each of which acknowledges what the window was. */
function pass(control: ReturnType<typeof createCongestionControl>, from: number, forMs: number, roundTripMs: number) {
  for (let now = from; now < from + forMs; now += roundTripMs) {
    const rounds = Math.floor(control.window / SEGMENT)
    for (let i = 0; i < rounds; i++) {
      control.onAcknowledged({
        bytes: SEGMENT,
        now,
        roundTripMs,
        smoothedMs: roundTripMs,
        inFlight: control.window,
      })
    }
  }
  return control.window / SEGMENT
}

describe('CUBIC (RFC 9438)', () => {
  it('starts with ten segments and doubles each round trip', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    expect(control.window).toBe(10_000)
    expect(pass(control, 0, 100, 100)).toBe(20)
    expect(pass(control, 100, 100, 100)).toBe(40)
  })

  it('leaves 0.7 of the window after a loss, is back after K seconds and probes faster beyond', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    while (control.window < 1_000_000) pass(control, 0, 100, 100)
    const plateau = control.window / SEGMENT
    control.onLoss(control.window)
    expect(control.window / SEGMENT / plateau).toBeCloseTo(0.7, 2)
    const k = Math.cbrt((plateau * 0.3) / 0.4)
    const before = pass(control, 1_000, (k - 2) * 1000, 100)
    expect(before).toBeGreaterThan(0.95 * plateau)
    expect(before).toBeLessThan(plateau)
    const at = pass(control, 1_000 + (k - 2) * 1000, 3_000, 100)
    expect(Math.abs(at - plateau)).toBeLessThan(0.02 * plateau)
    const late = pass(control, 1_000 + (k + 1) * 1000, 4_000, 100)
    expect(late).toBeGreaterThan(plateau + 30)
  })

  it('leaves 0.7 of the window also when nearly all of it had arrived before the loss was found', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    pass(control, 0, 300, 100)
    const before = control.window
    control.onLoss(SEGMENT)
    expect(control.window).toBe(0.7 * before)
  })

  it('reduces further when it loses below the last plateau (§4.7)', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    while (control.window < 1_000_000) pass(control, 0, 100, 100)
    const plateau = control.window / SEGMENT
    control.onLoss(control.window)
    control.onLoss(control.window)
    // Rest lies at 0.7 * (1 + 0.7) / 2 of what it was.
    const k = Math.cbrt((plateau * (0.595 - 0.49)) / 0.4)
    expect(pass(control, 0, k * 1000, 100) / plateau).toBeCloseTo(0.595, 1)
  })

  it('grows as Reno would on a short path (§4.3): 0.53 segments a round trip, and one beyond the last plateau', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    while (control.window < 100_000) pass(control, 0, 2, 2)
    const plateau = control.window / SEGMENT
    control.onLoss(control.window)
    const reduced = control.window / SEGMENT
    const after = pass(control, 1_000, 100, 2)
    expect((after - reduced) / 50).toBeCloseTo(0.53, 1)
    let now = 1_100
    for (; control.window / SEGMENT < plateau + 2; now += 2) pass(control, now, 2, 2)
    const beyond = control.window / SEGMENT
    expect((pass(control, now, 40, 2) - beyond) / 20).toBeCloseTo(1, 0)
  })

  it('grows by half at most in a round trip, however far ahead the curve is (§4.4)', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    control.onLoss(control.window)
    const acknowledge = (now: number): number => {
      const { window } = control
      control.onAcknowledged({ bytes: window, now, roundTripMs: 100, smoothedMs: 100, inFlight: window })
      return control.window / window
    }
    acknowledge(0)
    expect(acknowledge(60_000)).toBeCloseTo(1.5, 2)
  })

  it('does not count idle time as time for growth (§5.8)', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    control.onLoss(control.window)
    pass(control, 0, 1_000, 100)
    control.onIdle()
    const { window } = control
    pass(control, 60_000, 100, 100)
    expect(control.window - window).toBeLessThan(2 * SEGMENT)
  })

  it('starts anew where slow start ends after a timeout: no plateau from before it (§4.8)', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    while (control.window < 1_000_000) pass(control, 0, 100, 100)
    control.onTimeout(control.window, true)
    while (control.isInSlowStart) pass(control, 0, 100, 100)
    const { window } = control
    // A third of a second is nothing on a curve that begins flat, and half the way back on one that remembers.
    pass(control, 1_000, 300, 100)
    expect((control.window - window) / SEGMENT).toBeLessThan(3)
  })

  it('leaves slow start when round trips grow, before anything is lost (RFC 9406)', () => {
    const control = createCongestionControl('cubic', SEGMENT)
    let now = 0
    for (let roundTripMs = 50; control.isInSlowStart && now < 10_000; roundTripMs += 15) {
      pass(control, now, roundTripMs, roundTripMs)
      now += roundTripMs
    }
    expect(control.isInSlowStart).toBe(false)
    expect(control.window).toBeLessThan(300_000)
  })
})

describe('slow start (RFC 9406)', () => {
  /** A round of ten acknowledgments; by how much the window grew for each byte. */
  const round = (slowStart: SlowStart, roundTripMs: number): number | undefined => {
    let growth: number | undefined
    for (let i = 0; i < 10; i++)
      growth = slowStart.grow({ bytes: SEGMENT, now: 0, roundTripMs, smoothedMs: roundTripMs, inFlight: 10 * SEGMENT })
    return growth === undefined ? undefined : growth / SEGMENT
  }

  it('grows four times slower once round trips grow, and is over five rounds later', () => {
    const slowStart = new SlowStart()
    expect([50, 50, 70].map((ms) => round(slowStart, ms))).toEqual([1, 1, 0.25])
    const later = Array.from({ length: 7 }, () => round(slowStart, 70))
    expect(later.filter((growth) => growth === 0.25)).toHaveLength(5)
    expect(later.at(-1)).toBeUndefined()
  })

  it('continues as before when round trips shrink again meanwhile (§4.2 step 7)', () => {
    const slowStart = new SlowStart()
    expect([50, 50, 70, 50, 50].map((ms) => round(slowStart, ms))).toEqual([1, 1, 0.25, 1, 1])
  })
})

describe('NewReno (RFC 5681 §3.1)', () => {
  it('halves at a loss, and then grows by a segment a round trip', () => {
    const control = createCongestionControl('new-reno', SEGMENT)
    control.onLoss(20 * SEGMENT)
    expect(control.window).toBe(10 * SEGMENT)
    expect(pass(control, 0, 500, 100)).toBe(15)
  })
})

describe.each(['cubic', 'new-reno'] as const)('%s', (name) => {
  it.each([
    [536, 5_360],
    [1_460, 14_600],
    [4_000, 14_600],
    [8_960, 17_920],
  ])('begins with segments of %i at %i bytes (RFC 6928 §2), and after idle time again', (segmentBytes, window) => {
    const control = createCongestionControl(name, segmentBytes)
    expect(control.window).toBe(window)
    pass(control, 0, 300, 100)
    control.onIdle()
    expect(control.window).toBe(window)
  })

  it('starts over with one segment at a timeout, and undoes that when the timeout was spurious', () => {
    const control = createCongestionControl(name, SEGMENT)
    pass(control, 0, 300, 100)
    const before = control.window
    control.onTimeout(before, true)
    control.onTimeout(before, false)
    expect(control.window).toBe(SEGMENT)
    control.onSpurious()
    expect(control.window).toBe(before)
  })

  it('keeps at least two segments after losses, and at most ten after idle time', () => {
    const control = createCongestionControl(name, SEGMENT)
    for (let i = 0; i < 20; i++) control.onLoss(SEGMENT)
    expect(control.window).toBe(2 * SEGMENT)
    const rested = createCongestionControl(name, SEGMENT)
    pass(rested, 0, 300, 100)
    rested.onIdle()
    expect(rested.window).toBe(10 * SEGMENT)
  })
})

describe('the pacer', () => {
  const path = { window: 100_000, smoothedMs: 100, isInSlowStart: false, segmentBytes: SEGMENT }

  it('sends a burst of sixteen segments, and then the window in a little less than its round trip', () => {
    const pacer = new Pacer()
    expect(pacer.fill(0, path)).toBe(16_000)
    let sent = 0
    for (let now = 0; now <= 100; now++) {
      const bytes = Math.floor(pacer.fill(now, path) / SEGMENT) * SEGMENT
      pacer.spend(bytes)
      sent += bytes
    }
    expect(sent).toBe(16_000 + 125_000)
  })

  it('says when two segments may leave', () => {
    const pacer = new Pacer()
    pacer.fill(0, path)
    pacer.spend(16_000)
    expect(pacer.nextAt(0, SEGMENT)).toBe(1.6)
  })

  it('leaves a path that is faster than timers alone', () => {
    expect(new Pacer().fill(0, { ...path, smoothedMs: 0.5 })).toBe(Infinity)
  })
})

describe('the receive window', () => {
  it('grows to 4 MiB while the application keeps up, and not while it rests', () => {
    const window = new ReceiveWindow(SEGMENT)
    for (let now = 0; now < 1_000; now += 20) window.noteRead(window.bufferBytes, now, 20)
    expect(window.bufferBytes).toBe(4 << 20)
    const rested = new ReceiveWindow(SEGMENT)
    for (let now = 0; now < 100_000; now += 2_000) rested.noteRead(200_000, now, 20)
    expect(rested.bufferBytes).toBe(256 << 10)
  })

  it('is announced again when a quarter of it came free, or a segment when little was left (§3.8.6.2.2)', () => {
    const window = new ReceiveWindow(SEGMENT)
    window.scale = 7
    const isDue = (edge: number, waitingBytes: number): boolean => {
      window.edge = edge
      return window.isUpdateDue(0, waitingBytes)
    }
    const all = 256 << 10
    // What is free, what of it the peer knows.
    expect(isDue(all * 0.75 + 1, 0)).toBe(false)
    expect(isDue(all * 0.75, 0)).toBe(true)
    expect(isDue(1_000, all - 2_000)).toBe(true)
    expect(isDue(1_000, all - 1_999)).toBe(false)
    expect(isDue(3_000, all - 5_000)).toBe(false)
    expect(isDue(1_000, all - 1_000)).toBe(false)
  })

  it('never moves its edge back, nor by less than a segment (RFC 9293 §3.8.6.2.2)', () => {
    const window = new ReceiveWindow(SEGMENT)
    window.scale = 7
    window.edge = window.nextEdge(0, 0)
    expect(window.edge).toBe(256 << 10)
    expect(window.nextEdge(0, 100_000)).toBe(256 << 10)
    expect(window.nextEdge(999, 0)).toBe(256 << 10)
    expect(window.nextEdge(1_000, 0)).toBe((256 << 10) + 1_000)
  })
})
