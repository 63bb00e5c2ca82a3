/**
 * A gateway's status from two signals, its heartbeat and the tunnel's last handshake, with the reason in words. Pure.
 * Used by the list, the statistics and presence.
 */
import type { CameraState, Gateway, Heartbeat, Language } from '@hedgerow/contract'
import { duration } from '../kernel/duration.ts'
import { REASON_WORDS, type ReasonWords } from './reason-words.ts'

const HEARTBEAT_ALIVE_MS = 90_000
/** WireGuard ends a session after 180 s, so a live tunnel had a handshake within that time (its paper, §6.1). */
const HANDSHAKE_ALIVE_MS = 180_000
/** After its approval a gateway has this long for its first handshake. */
const JOINING_MS = 60_000
/** A time further ahead was written while the hub's clock was wrong; a smaller lead is a correction. */
const LEAD_MAX_MS = 24 * 3_600_000
const CLOCK_OFFSET_LIMIT_MS = 30_000
const DISK_LIMIT = 0.9
const TEMPERATURE_LIMIT_CELSIUS = 80
const REASONS_SHOWN = 4
/** Such a state says all that the gateway's own sentence does. */
const VIEW_FAULTS: ReadonlySet<CameraState> = new Set(['covered', 'turned', 'unfocused'])

/** Times are milliseconds since 1970. */
export type Signals = {
  kind: Gateway['kind']
  now: number
  heartbeat?: { at: number; content: Heartbeat; isCloned: boolean } | undefined
  latestHandshakeAt?: number | undefined
  createdAt: number
  /** The host and port that its UDP must reach, in words: `port 51820 of hub.example.org`. */
  vpnPort(): string
  /** For a plain-WireGuard gateway: whether the last check of its `/api/health` succeeded. */
  isHealthy?: boolean | undefined
  /** Recently refused detections, in words. */
  refused?: string | undefined
}

export type Judgement = { status: Gateway['status']; reason: string }

export function judge(signals: Signals): Judgement {
  return { status: statusOf(signals), reason: reasonOf(signals) }
}

/** The status alone, for counting a fleet. */
export function statusOf({ kind, now, heartbeat, latestHandshakeAt, isHealthy, refused }: Signals): Gateway['status'] {
  const hasHandshake = isRecent(now, latestHandshakeAt)
  if (kind === 'wireguard') return hasHandshake ? (isHealthy ? 'online' : 'warning') : 'offline'
  if (!heartbeat || !isWithin(now, heartbeat.at, HEARTBEAT_ALIVE_MS)) return 'offline'
  return hasHandshake && problemsOf(heartbeat, refused, REASON_WORDS.en).length === 0 ? 'online' : 'warning'
}

/** What is wrong with a gateway that has a warning: a problem has the same name while it lasts. */
export function problemNames({ kind, now, heartbeat, latestHandshakeAt, refused }: Signals): string[] {
  if (kind === 'wireguard') return ['health']
  const problems = heartbeat ? problemsOf(heartbeat, refused, REASON_WORDS.en).map(({ name }) => name) : []
  return isRecent(now, latestHandshakeAt) ? problems : ['handshake', ...problems]
}

/** The reason for the status, in words. What the gateway itself reported stays in its own words. */
export function reasonOf(signals: Signals, language: Language = 'en'): string {
  const words = REASON_WORDS[language]
  return signals.kind === 'enrolled' ? reasonOfEnrolled(signals, words) : reasonOfWireguard(signals, words)
}

/**
 * Whether its heartbeats come but no handshake does: for a minute after it was approved, or for a session's lifetime
 * after its last handshake. A gateway sends a heartbeat outside its tunnel only after waiting for the tunnel.
 */
export function isUdpBlocked({
  kind,
  now,
  heartbeat,
  latestHandshakeAt,
  createdAt,
}: Omit<Signals, 'vpnPort'>): boolean {
  if (kind !== 'enrolled' || !heartbeat || !isWithin(now, heartbeat.at, HEARTBEAT_ALIVE_MS)) return false
  const due = latestHandshakeAt === undefined ? createdAt + JOINING_MS : latestHandshakeAt + HANDSHAKE_ALIVE_MS
  return !isRecent(now, latestHandshakeAt) && heartbeat.at > due
}

function reasonOfEnrolled(signals: Signals, words: ReasonWords): string {
  const { now, heartbeat, latestHandshakeAt, refused } = signals
  if (!heartbeat || !isWithin(now, heartbeat.at, HEARTBEAT_ALIVE_MS)) {
    const silence = heartbeat ? words.noHeartbeatFor(duration(now - heartbeat.at)) : words.noHeartbeatYet
    return `${silence}, ${handshakeWords(now, latestHandshakeAt, words)}`
  }
  const hasHandshake = isRecent(now, latestHandshakeAt)
  const problems = problemsOf(heartbeat, refused, words).map(({ text }) => text)
  const sentences = [words.heartbeat(duration(now - heartbeat.at))]
  if (!hasHandshake || problems.length === 0) sentences.push(handshakeWords(now, latestHandshakeAt, words))
  if (isUdpBlocked(signals)) sentences.push(words.udpBlocked(signals.vpnPort()))
  sentences.push(...problems.slice(0, REASONS_SHOWN))
  if (problems.length > REASONS_SHOWN) sentences.push(words.more(problems.length - REASONS_SHOWN))
  return sentences.reduce(joined)
}

const isSentence = (text: string) => /[.?!]$/.test(text)

/** Phrases are joined with commas. Problems in the gateway's own words are mostly sentences, and stand alone. */
function joined(before: string, next: string): string {
  if (!isSentence(before)) return isSentence(next) ? `${before}. ${next}` : `${before}, ${next}`
  const sentence = `${next.charAt(0).toUpperCase()}${next.slice(1)}`
  return `${before} ${isSentence(sentence) ? sentence : `${sentence}.`}`
}

function reasonOfWireguard({ now, latestHandshakeAt, isHealthy }: Signals, words: ReasonWords): string {
  const handshake = handshakeWords(now, latestHandshakeAt, words)
  if (!isRecent(now, latestHandshakeAt)) return handshake
  if (isHealthy === undefined) return `${handshake}, ${words.healthUnknown}`
  return `${handshake}, ${isHealthy ? words.healthAnswers : words.healthSilent}`
}

function isWithin(now: number, at: number, limitMs: number): boolean {
  return now - at <= limitMs && at - now <= LEAD_MAX_MS
}

function isRecent(now: number, latestHandshakeAt: number | undefined): boolean {
  return latestHandshakeAt !== undefined && isWithin(now, latestHandshakeAt, HANDSHAKE_ALIVE_MS)
}

function handshakeWords(now: number, latestHandshakeAt: number | undefined, words: ReasonWords): string {
  if (latestHandshakeAt === undefined) return words.noHandshakeYet
  const age = duration(now - latestHandshakeAt)
  return isRecent(now, latestHandshakeAt) ? words.handshake(age) : words.noHandshakeFor(age)
}

type Problem = { name: string; text: string }

function problemsOf(
  { at, content, isCloned }: NonNullable<Signals['heartbeat']>,
  refused: string | undefined,
  words: ReasonWords,
): Problem[] {
  const problems: Problem[] = []
  const add = (name: string, text: string) => void problems.push({ name, text })
  if (refused !== undefined) add('refused', refused)
  if (isCloned) add('cloned', words.cloned)
  for (const { name, state } of content.cameras) {
    if (state === 'online' || state === 'disabled') continue
    add(`${state === 'offline' ? 'camera' : state} ${name}`, words.camera(name, state))
  }
  if (content.disk > DISK_LIMIT) add('disk', words.disk(Math.round(content.disk * 100)))
  if (content.temperature !== null && content.temperature > TEMPERATURE_LIMIT_CELSIUS)
    add('temperature', words.temperature(Math.round(content.temperature)))
  const offset = Math.abs(content.clock - at)
  if (offset > CLOCK_OFFSET_LIMIT_MS) add('clock', words.clock(duration(offset)))
  for (const { name, state } of content.deterrents)
    if (state === 'fault') add(`deterrent ${name}`, words.deterrentFault(name))
  const ofViews = new Set(content.cameras.flatMap(({ name, state }) => (VIEW_FAULTS.has(state) ? [name] : [])))
  const told = new Set(content.cameraProblems?.flatMap(({ camera, problem }) => (ofViews.has(camera) ? [problem] : [])))
  // Its own words count, as "12 detections wait", without which they are the same.
  for (const text of content.problems) if (!told.has(text)) add(`own ${text.replaceAll(/\d+/g, '0')}`, text)
  return problems
}
