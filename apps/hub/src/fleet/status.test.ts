import type { Heartbeat } from '@hedgerow/contract'
import { describe, expect, it } from 'vitest'
import { judge, problemNames, type Signals } from './status.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'

const now = Date.UTC(2026, 10, 21, 12)
const seconds = (count: number) => now - count * 1_000
const minutes = (count: number) => seconds(count * 60)

const content = testHeartbeat(seconds(20))

const BLOCKED = 'UDP to port 51820 of hub.example.org seems to be blocked'

const enrolled = (change: Partial<Heartbeat> = {}, signals: Partial<Signals> = {}): ReturnType<typeof judge> =>
  judge({
    kind: 'enrolled',
    now,
    heartbeat: { at: seconds(20), content: { ...content, ...change }, isCloned: false },
    latestHandshakeAt: seconds(40),
    createdAt: minutes(60),
    vpnPort: () => 'port 51820 of hub.example.org',
    ...signals,
  })

describe('an enrolled gateway', () => {
  it('is offline when its last signals are from a time when the clock was a year ahead', () => {
    const ahead = now + 365 * 86_400_000
    const last = { at: ahead, content, isCloned: false }
    expect(enrolled({}, { heartbeat: last, latestHandshakeAt: ahead }).status).toBe('offline')
    expect(enrolled({}, { latestHandshakeAt: ahead }).status).toBe('warning')
    expect(enrolled({}, { latestHandshakeAt: now + 3_600_000 }).status, 'a correction').toBe('online')
  })

  it('is online with a heartbeat, a handshake and no problem', () => {
    expect(enrolled()).toEqual({ status: 'online', reason: 'heartbeat 20 s ago, VPN handshake 40 s ago' })
  })

  it('has a warning with a heartbeat but no handshake for 180 s', () => {
    expect(enrolled({}, { latestHandshakeAt: minutes(9) })).toEqual({
      status: 'warning',
      reason: `heartbeat 20 s ago, no VPN handshake for 9 min, ${BLOCKED}`,
    })
    expect(enrolled({}, { latestHandshakeAt: seconds(180) }).status).toBe('online')
    expect(enrolled({}, { latestHandshakeAt: seconds(181) }).status).toBe('warning')
    expect(enrolled({}, { latestHandshakeAt: undefined }).reason).toBe(
      `heartbeat 20 s ago, no VPN handshake yet, ${BLOCKED}`,
    )
  })

  it('warns of blocked UDP a minute after its approval, or a session’s lifetime after its last handshake', () => {
    const reason = (signals: Partial<Signals>) => enrolled({}, signals).reason
    expect(reason({ latestHandshakeAt: undefined, createdAt: seconds(80) })).not.toContain('UDP')
    expect(reason({ latestHandshakeAt: undefined, createdAt: seconds(81) })).toContain(BLOCKED)
    expect(reason({ latestHandshakeAt: seconds(200) })).not.toContain('UDP')
    expect(reason({ latestHandshakeAt: seconds(201) })).toContain(BLOCKED)
    const heartbeat = { at: minutes(2), content, isCloned: false }
    expect(reason({ heartbeat, latestHandshakeAt: undefined }), 'all signals end').not.toContain('UDP')
  })

  it('is offline 90 s after its last heartbeat, whatever the tunnel does', () => {
    const beating = (at: number) =>
      enrolled({}, { heartbeat: { at, content: { ...content, clock: at }, isCloned: false } })
    expect(beating(seconds(90)).status).toBe('online')
    expect(beating(seconds(91))).toEqual({
      status: 'offline',
      reason: 'no heartbeat for 1 min, VPN handshake 40 s ago',
    })
    expect(enrolled({}, { heartbeat: undefined, latestHandshakeAt: undefined })).toEqual({
      status: 'offline',
      reason: 'no heartbeat yet, no VPN handshake yet',
    })
  })

  it.each<[Partial<Heartbeat>, string]>([
    [{ cameras: [{ name: 'Gate', state: 'offline', fps: 0 }] }, 'camera Gate is offline'],
    [{ cameras: [{ name: 'camera-10-0-0-7', state: 'offline', fps: 0 }] }, 'camera-10-0-0-7 is offline'],
    [{ cameras: [{ name: 'Gate', state: 'frozen', fps: 5 }] }, 'camera Gate is frozen'],
    [{ cameras: [{ name: 'Gate', state: 'covered', fps: 5 }] }, 'camera Gate is covered'],
    [{ cameras: [{ name: 'Gate', state: 'turned', fps: 5 }] }, 'camera Gate was turned'],
    [{ cameras: [{ name: 'Gate', state: 'unfocused', fps: 5 }] }, 'camera Gate is out of focus'],
    [{ disk: 0.93 }, 'disk 93 % full'],
    [{ temperature: 85 }, 'temperature 85 °C'],
    [{ clock: seconds(62) }, 'clock off by 42 s'],
    [{ clock: seconds(-3_600) }, 'clock off by 1 h'],
    [{ deterrents: [{ name: 'Siren', state: 'fault' }] }, 'deterrent Siren has a fault'],
    [{ problems: ['no detector'] }, 'no detector'],
  ])('has a warning with %j', (change, reason) => {
    expect(enrolled(change)).toEqual({ status: 'warning', reason: `heartbeat 20 s ago, ${reason}` })
  })

  it.each<Partial<Heartbeat>>([
    { cameras: [{ name: 'Gate', state: 'disabled', fps: 0 }] },
    { disk: 0.9 },
    { temperature: null },
    { clock: seconds(50) },
    { deterrents: [{ name: 'Siren', state: 'active' }] },
  ])('is online with %j', (change) => expect(enrolled(change).status).toBe('online'))

  it('has a warning when two devices use its identity', () => {
    const heartbeat = { at: seconds(20), content, isCloned: true }
    expect(enrolled({}, { heartbeat }).reason).toBe('heartbeat 20 s ago, two devices use this identity')
  })

  it('has the same problem while only its numbers change', () => {
    const names = (change: Partial<Heartbeat>) =>
      problemNames({
        kind: 'enrolled',
        now,
        createdAt: minutes(60),
        latestHandshakeAt: seconds(40),
        vpnPort: () => '',
        heartbeat: { at: seconds(20), content: { ...content, ...change }, isCloned: false },
      })
    expect(names({})).toEqual([])
    expect(names({ disk: 0.93 })).toEqual(names({ disk: 0.95 }))
    expect(names({ problems: ['9 pictures wait'] })).toEqual(names({ problems: ['12 pictures wait'] }))
    expect(names({ problems: ['9 pictures wait'] })).not.toEqual(names({ problems: ['9 pictures were lost'] }))
    const cameras = (...offline: string[]) =>
      names({ cameras: offline.map((name) => ({ name, state: 'offline' as const, fps: 0 })) })
    expect(cameras('gate')).not.toEqual(cameras('mill'))
  })

  it('says once that a camera is covered', () => {
    const covered = { name: 'gate', state: 'covered', fps: 5 } as const
    const problem = 'Camera gate: it is covered.'
    const told = { problems: [problem], cameraProblems: [{ camera: 'gate', problem }] }
    expect(enrolled({ cameras: [covered], ...told }).reason).toBe('heartbeat 20 s ago, camera gate is covered')
    expect(enrolled({ cameras: [{ ...covered, state: 'offline' }], ...told }).reason).toContain(problem)
  })

  it('names a few problems and counts the rest', () => {
    expect(enrolled({ problems: ['a', 'b', 'c', 'd', 'e', 'f'] }).reason).toBe(
      'heartbeat 20 s ago, a, b, c, d, and 2 more',
    )
  })

  it('joins phrases with commas, and leaves sentences of the gateway as they are', () => {
    const dark = 'Camera gate: its picture is black. Is it covered, or its light off?'
    const locked = 'Camera yard: its password is wrong.'
    expect(enrolled({ disk: 0.93, problems: [dark, locked] }).reason).toBe(
      `heartbeat 20 s ago, disk 93 % full. ${dark} ${locked}`,
    )
    expect(enrolled({ problems: [dark, locked, dark, locked, dark] }).reason).toBe(
      `heartbeat 20 s ago. ${dark} ${locked} ${dark} ${locked} And 1 more.`,
    )
    expect(enrolled({ problems: [dark, 'no detector'] }).reason).toBe(`heartbeat 20 s ago. ${dark} No detector.`)
  })

  it('never shows negative times when a clock was set back', () => {
    const heartbeat = { at: seconds(-60), content: { ...content, clock: seconds(-60) }, isCloned: false }
    expect(enrolled({}, { heartbeat, latestHandshakeAt: seconds(-60) }).reason).toBe(
      'heartbeat 0 s ago, VPN handshake 0 s ago',
    )
  })
})

describe('a plain-WireGuard gateway', () => {
  const plain = (latestHandshakeAt: number | undefined, isHealthy?: boolean) =>
    judge({
      kind: 'wireguard',
      now,
      latestHandshakeAt,
      isHealthy,
      createdAt: minutes(60),
      vpnPort: () => 'port 1 of hub',
    })

  it('is judged by its handshake and its /api/health', () => {
    expect(plain(seconds(30), true)).toEqual({
      status: 'online',
      reason: 'VPN handshake 30 s ago, /api/health answers',
    })
    expect(plain(seconds(30), false)).toEqual({
      status: 'warning',
      reason: 'VPN handshake 30 s ago, /api/health does not answer',
    })
    expect(plain(minutes(4), true)).toEqual({ status: 'offline', reason: 'no VPN handshake for 4 min' })
    expect(plain(undefined)).toEqual({ status: 'offline', reason: 'no VPN handshake yet' })
  })
})
