/** Why a gateway's page can't be shown: the kinds of failures, and the words for each. Pure. */
import { UnusableAnswer } from '@hedgerow/http'
import type { RefusalPage } from './refusal-page.ts'

/** An exchange that made no progress for too long. */
export class GatewayTimeout extends Error {
  override name = 'GatewayTimeout'
  /** All connections to the gateway were in use for all that time. */
  readonly isBusy: boolean

  constructor({ isBusy = false } = {}) {
    super(isBusy ? 'all connections to the gateway are in use' : 'the gateway gave no answer in time')
    this.isBusy = isBusy
  }
}

type Failure = 'offline' | 'silent' | 'refused' | 'closed' | 'slow' | 'busy' | 'not HTTP'

const CLOSED = new Set(['ECONNRESET', 'EPIPE'])

/** `isOffline` is the gateway's status in the fleet: only then does silence mean that it is off. */
export function failureOf(error: NodeJS.ErrnoException, isOffline: boolean): Failure {
  if (error instanceof UnusableAnswer) return 'not HTTP'
  if (error instanceof GatewayTimeout) return error.isBusy ? 'busy' : 'slow'
  if (error.code === 'ECONNREFUSED') return 'refused'
  // No code means that the gateway ended the connection normally, before its answer.
  if (error.code === undefined || CLOSED.has(error.code)) return 'closed'
  return isOffline ? 'offline' : 'silent'
}

type Words = Pick<RefusalPage, 'title' | 'reason' | 'advice'>

/**
 * `seconds` is how long an exchange may make no progress; `port` is in words: `port 51820 of hub.example.org`.
 */
type About = { error: Error; seconds: number; port: string }

/** In its first minute, blocked UDP looks like any other silence: both pages of silence name the port. */
const openPort = (port: string) => `A firewall between it and the hub must let UDP from the gateway reach ${port}.`

/** The words for a person. */
const WORDS: Record<Failure, (about: About & { name: string }) => Words> = {
  offline: ({ name, port }) => ({
    title: `${name} is offline`,
    reason: 'The hub hears nothing from it, and it does not answer through the VPN.',
    advice: [
      'Check its power and its internet connection.',
      'A gateway that was just switched on needs up to a minute.',
      openPort(port),
    ],
  }),
  silent: ({ name, port }) => ({
    title: `${name} does not answer`,
    reason: 'The hub requested its page through the VPN and got no answer.',
    advice: [
      'Wait a moment: a gateway that was just switched on needs a few seconds.',
      'Look at its status in the hub. If it has a warning, the reason is beside it.',
      openPort(port),
      'Restart the gateway if it stays like this. A firewall on it must let the hub reach its page.',
    ],
  }),
  refused: ({ name }) => ({
    title: `${name} refuses the connection`,
    reason: 'The gateway is reachable, but nothing on it serves this page.',
    advice: [
      'Wait a moment if it is just starting.',
      'Otherwise check on the device that the program that serves this page is running.',
    ],
  }),
  closed: ({ name }) => ({
    title: `${name} closed the connection`,
    reason: 'It ended the connection before it answered.',
    advice: [
      'Wait a moment: the program that serves this page may be restarting.',
      'If it happens every time, look at the log of that program on the device.',
    ],
  }),
  slow: ({ name, seconds }) => ({
    title: `${name} does not answer in time`,
    reason: `It accepted the request and then gave no answer for ${seconds} seconds.`,
    advice: [
      'Look at its load in the hub: a busy device answers late.',
      'If other pages of this gateway work, only this one is slow. Its log on the device may say why.',
    ],
  }),
  busy: ({ name, seconds }) => ({
    title: `${name} has too many open requests`,
    reason: `All connections that the hub opens to one gateway were in use for ${seconds} seconds.`,
    advice: ['Close pages of this gateway that nobody needs, also on other computers.'],
  }),
  'not HTTP': ({ name, error }) => ({
    title: `${name} sent something that is not a web page`,
    reason: `The hub does not pass its answer on, because ${error.message}.`,
    advice: [
      'Check which program answers on the device: it must speak HTTP/1.1, without TLS.',
      'If this is one page of an application that otherwise works, report it to whoever makes the application.',
    ],
  }),
}

type Gateway = { id: string; name: string }

/** `hubUrl` is the hub behind the page. */
export function failurePage(
  failure: Failure,
  { gateway, hubUrl, ...about }: About & { gateway: Gateway; hubUrl: string },
): RefusalPage {
  const words = WORDS[failure]({ name: gateway.name, ...about })
  return { ...words, isTemporary: true, back: backTo(hubUrl, gateway) }
}

/** The page that is shown at once, without a request to the gateway; `port` is in words. */
export function blockedUdpPage(gateway: Gateway, hubUrl: string, port: string): RefusalPage {
  return {
    title: `${gateway.name} cannot be reached through the VPN`,
    reason: 'Its heartbeats come over HTTP(S), none through the VPN: UDP seems to be blocked between it and the hub.',
    advice: [
      `Let UDP from the gateway reach ${port}.`,
      'Its page opens as soon as the VPN is up. The gateway keeps trying.',
    ],
    isTemporary: true,
    back: backTo(hubUrl, gateway),
  }
}

export const TOO_MANY_OF_A_SESSION: Words & { isTemporary: true } = {
  title: 'You have too many open requests',
  reason: 'The hub limits how many requests to gateways’ pages one person has open at a time.',
  advice: ['Close pages of gateways that you no longer need.'],
  isTemporary: true,
}

/** The gateway's own page in the hub, which has its status. */
const backTo = (hubUrl: string, { id }: Gateway) => ({ url: `${hubUrl}/gateways/${id}`, label: 'Back to the hub' })
