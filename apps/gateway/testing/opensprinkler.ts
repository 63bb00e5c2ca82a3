/**
 * An OpenSprinkler as its firmware is (github.com/OpenSprinkler/OpenSprinkler-Firmware, tag 221(3)). It keeps a queue;
 * once a second its loop gives stations their element of the queue and opens and closes valves.
 */
import { hash, json, serve, type DeviceServer } from './device-servers.ts'

export type Sprinkler = DeviceServer & {
  /** A program of the owner's runs these stations, one after the other. Stations count from 0, as in the firmware. */
  runProgram(stations: readonly number[], seconds: number): void
  /** Somebody switches a station on in the app. */
  runByHand(station: number, seconds: number): void
  /** Which stations run, from 0. */
  running(): number[]
  /** The stations of the queue with the number of their program. */
  queued(): [station: number, program: number][]
  /** The paths of all calls, with their `en`. */
  asked(): string[]
}

export type SprinklerOptions = {
  password: string
  /** The number of the master station, from 1; it cannot be switched by itself. */
  master?: number
  /** `220`: `en=0` answers 1 for a station that is not in the queue. `224`: firmware 2.2.1(4), which knows `qo`. */
  firmware?: 220 | 221 | 224
  /** Paths that it does not have, as a proxy or a very old firmware may lack them. */
  without?: readonly string[]
}

/** Of the program of a station that was switched on by itself (opensprinkler_server.cpp:1799). */
const BY_HAND = 99
const STATIONS = 8
const TICK_MS = 1_000

type Element = { sid: number; pid: number; st: number; dur: number }

export async function startOpenSprinkler(options: SprinklerOptions): Promise<Sprinkler> {
  const { password, master, firmware = 221, without = [] } = options
  let queue: Element[] = []
  /** `station_qid`: only the loop fills it. */
  const given = new Map<number, Element>()
  const bits = new Set<number>()
  let lastSeconds: number | null = null
  const asked: string[] = []
  const now = () => Math.floor(Date.now() / TICK_MS)

  /** main.cpp:965 to 1022. */
  function tick(): void {
    for (const element of queue) {
      const before = given.get(element.sid)
      if (!before || before.st >= element.st) given.set(element.sid, element)
    }
    for (const [sid, { st, dur }] of given) {
      if (!bits.has(sid) && now() >= st && now() < st + dur) bits.add(sid)
      if (now() >= st + dur) remove(sid)
    }
    // main.cpp:1047: the master runs with any other station.
    if (master !== undefined) bits.delete(master - 1)
    if (master !== undefined && bits.size > 0) bits.add(master - 1)
  }

  function remove(sid: number): void {
    queue = queue.filter((element) => element !== given.get(sid))
    given.delete(sid)
    bits.delete(sid)
  }

  /** main.cpp:1488: behind the stations that are in the queue; in front of them with `qo`, from 2.2.1(4). */
  function enqueue(sid: number, pid: number, dur: number, isInFront = false): void {
    if (isInFront)
      for (const element of queue) {
        const elapsed = Math.max(0, now() - element.st)
        bits.delete(element.sid)
        element.dur -= elapsed
        element.st += elapsed + dur
      }
    const last = isInFront ? 0 : Math.max(0, ...queue.map((element) => element.st + element.dur))
    queue.push({ sid, pid, st: Math.max(now(), last), dur })
  }

  /** opensprinkler_server.cpp:1751 to 1824. */
  function change(asked: Record<string, string>): number {
    const { sid: station, en, t, qo } = asked
    const sid = Number(station)
    if (station === undefined || en === undefined) return 16
    if (sid < 0 || sid >= STATIONS) return 17
    if (Number(en) === 0) {
      if (!given.has(sid)) return firmware === 220 ? 1 : 17
      remove(sid)
      return 1
    }
    if (t === undefined) return 16
    if (Number(t) < 1 || Number(t) > 64_800) return 17
    if (master === sid + 1 || given.has(sid)) return 48
    enqueue(sid, BY_HAND, Number(t), firmware === 224 && qo === '1')
    lastSeconds = Number(t)
    return 1
  }

  /** opensprinkler_server.cpp:1191 to 1300, with the members that tell of stations. */
  function controller(): object {
    const rest = ({ st, dur }: Element) => (now() >= st ? st + dur - now() : dur)
    const ps = Array.from({ length: STATIONS }, (_, sid) => {
      const element = given.get(sid)
      return element ? [element.pid, rest(element), element.st, 0] : [0, 0, 0, 0]
    })
    const sbits = [[...bits].reduce((sum, sid) => sum | (1 << sid), 0), 0]
    return { devt: now(), nbrd: 1, en: 1, rd: 0, pq: 0, nq: queue.length, sbits, ps }
  }

  const server = await serve(({ url }) => {
    const { pw, ...given } = Object.fromEntries(url.searchParams)
    asked.push(url.pathname + (given['en'] === undefined ? '' : ` en=${given['en']}`))
    if (pw !== hash('md5', password)) return json({ result: 2 })
    if (without.includes(url.pathname)) return json({ result: 32 })
    if (url.pathname === '/cm') return json({ result: change(given) })
    if (url.pathname === '/jc') return json(controller())
    if (url.pathname !== '/js') return json({ result: 32 })
    return json({ sn: Array.from({ length: STATIONS }, (_, sid) => (bits.has(sid) ? 1 : 0)), nstations: STATIONS })
  })
  const timer = setInterval(tick, TICK_MS)
  return {
    ...server,
    isOn: () => bits.has(2),
    seconds: () => (bits.has(2) ? lastSeconds : null),
    runProgram(stations, seconds) {
      for (const sid of stations) enqueue(sid, 1, seconds)
      tick()
    },
    runByHand(station, seconds) {
      enqueue(station, BY_HAND, seconds)
      tick()
    },
    running: () => [...bits].toSorted((a, b) => a - b),
    queued: () => queue.map(({ sid, pid }) => [sid, pid]),
    asked: () => asked,
    stop() {
      clearInterval(timer)
      return server.stop()
    },
  }
}
