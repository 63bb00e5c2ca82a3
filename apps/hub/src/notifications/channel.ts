import type { Language } from '@hedgerow/contract'
import type { z } from 'zod'
import type { BrokerSettings } from '../mqtt/mqtt.ts'

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

/** One way to notify people outside the hub, with its settings of now. */
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
  /** For Home Assistant, which has the same broker. */
  broker?: BrokerSettings
}

/** One setting of a channel: a variable of the hub, a field of the portal's form, and a row of the documents. */
export type Field = {
  variable: `HUB_${string}`
  /** The values of a secret are sealed and never shown; an address is dialled; a choice is a list of `choices`. */
  kind: 'text' | 'lines' | 'secret' | 'address' | 'choice'
  /** Its name in the form. */
  label: string
  /** A sentence below it. */
  help?: string
  /** Its error continues a sentence that begins with the field's name. */
  schema: z.ZodType<string, string>
  choices?: readonly string[]
  /** Its value when it is unset. */
  default?: string
  /** The channel works without it. */
  isOptional?: true
}

/** By name. A channel is set up when the first one has a value; then it needs all that are not optional. */
export type Fields = Readonly<Record<string, Field>>
export type SettingsOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends { isOptional: true } ? string | undefined : string
}

/** How a channel gets to an address of its settings. */
export type Reach = {
  /** Typed into the portal: it must be on the Internet, and no error tells one private name from another. */
  onlyPublic: boolean
  /** The error for people when there was no answer; `what` begins the sentence. */
  unreached(what: string, error: unknown): Error
}

export type ChannelParts = {
  clock: () => number
  push: { send: SendPush }
  reach(url: string): Reach
}

/** What a file of channels/ exports as `channel`. */
export type ChannelType<F extends Fields = Fields> = {
  name: string
  /** Its recipients: the people who run the hub, or the person or the browser that a message is for. */
  audience: 'operators' | 'person' | 'browser'
  fields: F
  /** The channel that has its fields too, and whose settings are its own. */
  sharedSettings?: string
  open(settings: SettingsOf<F>, parts: ChannelParts): Channel
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
  /** A test's result when the message was accepted. */
  taken: string
}

/** Keeps the type of the settings within the file. */
export function channelType<const F extends Fields>(definition: ChannelType<F>): ChannelType<F> {
  return definition
}
