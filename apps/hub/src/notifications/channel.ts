import type { z } from 'zod'

/** What goes out. */
export type Message = {
  /** Of this message for good, the same at every attempt. */
  id: string
  /** The same for a `Message-ID`: letters, digits and dots. */
  serial: string
  /** What it is about, such as `registration.pending`. */
  event: string
  at: string
  /** A line for a mail's subject. */
  title: string
  /** What to know and do, for a person. */
  text: string
  /** The page of the portal that it is about. */
  url?: string | undefined
  /** For programs. */
  data: Record<string, string | null>
  /** The one person whom it concerns; without, the people who run the hub. */
  to?: string | undefined
}

/** The message may have arrived. Whoever sends it again may send it twice. */
export class DeliveryUnknown extends Error {}

/** One way to tell people outside the hub, as this start was configured. */
export type Channel = {
  /** Why it has nobody to tell now; undefined when it has. `email` is that of the auto-approval settings. */
  problem(settings: { email: string }): string | undefined
  /** Resolves once they arrived; rejects with what went wrong, or with `DeliveryUnknown`. */
  send(messages: readonly Message[], settings: { email: string }): Promise<void>
  /** Breaks off what is under way. */
  close(): void
}

/** What a file of channels/ exports as `channel`. `Settings` is what the environment says of it. */
export type ChannelType<Settings = unknown> = {
  name: string
  /** Whom it tells: the people who run the hub, or the one person whom a message concerns. */
  audience: 'operators' | 'person'
  /** The channel whose settings it shares, instead of variables of its own. */
  sharedSettings?: string
  /** Its environment variables. */
  variables: Readonly<Record<`HUB_${string}`, z.ZodType>>
  /** What they mean; undefined when it is not configured. Throws an `Error` that names a variable that is missing. */
  configure(variables: Readonly<Record<string, unknown>>): Settings | undefined
  open(settings: Settings, parts: { clock: () => number }): Channel
  /** How many messages go out as one. */
  batch: number
  /** How many times it sends before others have their turn. */
  sendingsATurn: number
  /** A pause after each turn that sent something, in which messages gather. */
  pauseMs: number
  /** Whether the next message may arrive although this one did not. */
  goesOnAfterFailure: boolean
  /** What becomes of what was being sent when the hub stopped: it may have arrived. */
  interrupted: 'waiting' | 'failed'
  /** What a test says of it: when it is not configured, and when the message was taken. */
  unset: string
  taken: string
}

/** Keeps the type of the settings within the file. */
export function channelType<Settings>(definition: ChannelType<Settings>): ChannelType<Settings> {
  return definition
}
