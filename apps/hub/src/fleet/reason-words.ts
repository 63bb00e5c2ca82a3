/** The phrases of a status's reason in the languages of alerts. Durations are symbols, such as `9 min`. */
import { BLIND_WORDS, type BlindState, type Language } from '@hedgerow/contract'

export type ReasonWords = {
  noHeartbeatYet: string
  noHeartbeatFor(age: string): string
  heartbeat(age: string): string
  noHandshakeYet: string
  noHandshakeFor(age: string): string
  handshake(age: string): string
  udpBlocked(port: string): string
  more(count: number): string
  healthUnknown: string
  healthAnswers: string
  healthSilent: string
  cloned: string
  camera(name: string, state: BlindState): string
  disk(percent: number): string
  temperature(celsius: number): string
  clock(offset: string): string
  deterrentFault(name: string): string
}

/** `camera yard`, but only `camera 1` for a camera that is named so. */
const called = (noun: string, name: string) => (/^[ck]amera\b/i.test(name) ? name : `${noun} ${name}`)

const BLIND_IN_GERMAN: Readonly<Record<BlindState, string>> = {
  offline: 'ist offline',
  frozen: 'ist eingefroren',
  covered: 'ist verdeckt',
  turned: 'wurde verdreht',
  unfocused: 'ist unscharf',
}

export const REASON_WORDS: Readonly<Record<Language, ReasonWords>> = {
  en: {
    noHeartbeatYet: 'no heartbeat yet',
    noHeartbeatFor: (age) => `no heartbeat for ${age}`,
    heartbeat: (age) => `heartbeat ${age} ago`,
    noHandshakeYet: 'no VPN handshake yet',
    noHandshakeFor: (age) => `no VPN handshake for ${age}`,
    handshake: (age) => `VPN handshake ${age} ago`,
    udpBlocked: (port) => `UDP to ${port} seems to be blocked`,
    more: (count) => `and ${count} more`,
    healthUnknown: '/api/health not asked yet',
    healthAnswers: '/api/health answers',
    healthSilent: '/api/health does not answer',
    cloned: 'two devices use this identity',
    camera: (name, state) => `${called('camera', name)} ${BLIND_WORDS[state]}`,
    disk: (percent) => `disk ${percent} % full`,
    temperature: (celsius) => `temperature ${celsius} °C`,
    clock: (offset) => `clock off by ${offset}`,
    deterrentFault: (name) => `deterrent ${name} has a fault`,
  },
  de: {
    noHeartbeatYet: 'noch kein Lebenszeichen',
    noHeartbeatFor: (age) => `seit ${age} kein Lebenszeichen`,
    heartbeat: (age) => `Lebenszeichen vor ${age}`,
    noHandshakeYet: 'noch kein VPN-Handshake',
    noHandshakeFor: (age) => `seit ${age} kein VPN-Handshake`,
    handshake: (age) => `VPN-Handshake vor ${age}`,
    udpBlocked: (port) => `UDP scheint blockiert zu sein (${port})`,
    more: (count) => `und ${count} weitere`,
    healthUnknown: '/api/health noch nicht gefragt',
    healthAnswers: '/api/health antwortet',
    healthSilent: '/api/health antwortet nicht',
    cloned: 'zwei Geräte benutzen diese Identität',
    camera: (name, state) => `${called('Kamera', name)} ${BLIND_IN_GERMAN[state]}`,
    disk: (percent) => `Datenträger zu ${percent} % voll`,
    temperature: (celsius) => `Temperatur ${celsius} °C`,
    clock: (offset) => `Uhr geht um ${offset} falsch`,
    deterrentFault: (name) => `Abschreckung ${name} hat einen Fehler`,
  },
}
