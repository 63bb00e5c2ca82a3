import type { Language } from '@hedgerow/contract'
import type { z } from 'zod'

/** How to acknowledge an alert without a session. */
export type Acknowledge = { page: string; call: string; token: string }

/** What a push message has besides its text. */
export type PushContent = {
  /** A later message with the same tag replaces it. */
  tag: string
  /** The person's unread notices, for the badge of the installed portal. */
  unread: number
  /** The buttons, in the person's language. */
  words: { acknowledge: string; open: string }
  /** Needs no session. */
  pictureUrl?: string
}

/** An outgoing message. */
export type Message = {
  /** Identifies this message; the same at every attempt. */
  id: string
  /** The same for a `Message-ID`: letters, digits and dots. */
  serial: string
  /** Its subject, such as `registration.pending`. */
  event: string
  at: string
  /** A line for a mail's subject. */
  title: string
  /** The details and the advice, for a person. */
  text: string
  /** The language of `title` and `text`. */
  language: Language
  /** The page of the portal about it. */
  url?: string | undefined
  /** For programs. */
  data: Record<string, string | null>
  /** For an alert: a page with a button for people, and the call and its token for programs. */
  acknowledge?: Acknowledge
  /** For a browser. */
  push?: PushContent
  /** A JPEG. */
  picture?: Buffer
  /** The person that it is for; when unset, the people who run the hub. */
  to?: string | undefined
}

/** What programs get of a message: the contract's `webhookMessage`. */
export function forPrograms(message: Message): object {
  const { id, event, at, title, text, url, data, acknowledge, picture } = message
  const jpeg = picture && { picture: picture.toString('base64') }
  return { id, event, at, title, text, url, data, acknowledge, ...jpeg }
}

/** Trying again cannot help. */
export class Undeliverable extends Error {}

export type PushMessage = {
  payload: object
  /** A later message with the same topic replaces it while the browser is away: 32 characters of base64url at most. */
  topic: string
}

/**
 * Sends to the browser with this id. Rejects with the service's answer, or with `Undeliverable` when the subscription
 * is gone.
 */
export type SendPush = (id: string, message: PushMessage, signal: AbortSignal) => Promise<void>

/** The message may have arrived. Sending it again may deliver it twice. */
export class DeliveryUnknown extends Error {}

/** One way to notify people outside the hub, as configured for this start. */
export type Channel = {
  /** Why it has no recipient now; undefined when it has one. `email` is that of the auto-approval settings. */
  problem(settings: { email: string }): string | undefined
  /**
   * Resolves once they arrived, with a sentence about what was left out, if anything; rejects with the error, or with
   * `DeliveryUnknown`.
   */
  send(messages: readonly Message[], settings: { email: string }): Promise<string | void>
  /** Aborts current deliveries. */
  close(): void
}

/** What a file of channels/ exports as `channel`. `Settings` is its part of the environment. */
export type ChannelType<Settings = unknown> = {
  name: string
  /** Its recipients: the people who run the hub, or the person or the browser that a message is for. */
  audience: 'operators' | 'person' | 'browser'
  /** The channel whose settings it shares, instead of variables of its own. */
  sharedSettings?: string
  /** Its environment variables. */
  variables: Readonly<Record<`HUB_${string}`, z.ZodType>>
  /**
   * Its settings from the variables; undefined when it is not configured. Throws an `Error` that names a missing
   * variable.
   */
  configure(variables: Readonly<Record<string, unknown>>): Settings | undefined
  open(settings: Settings, parts: { clock: () => number; push: { send: SendPush } }): Channel
  /** How many messages are sent as one. */
  batch: number
  /** How many sendings before other channels get their turn. */
  sendingsATurn: number
  /** A pause after each turn that sent something, to collect messages. */
  pauseMs: number
  /** Whether to try the next message after a failure. */
  goesOnAfterFailure: boolean
  /** The state of messages whose sending the hub's stop interrupted: they may have arrived. */
  interrupted: 'waiting' | 'failed'
  /** Texts for a test's result: when it is not configured, and when the message was accepted. */
  unset: string
  taken: string
}

/** Keeps the type of the settings within the file. */
export function channelType<Settings>(definition: ChannelType<Settings>): ChannelType<Settings> {
  return definition
}
