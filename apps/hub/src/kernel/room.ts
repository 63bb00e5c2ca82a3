import type { Logger } from 'pino'
import type { Config } from '../config.ts'

/** What every room of the hub gets; what earlier rooms gave comes with it, by name. */
export type Base = {
  config: Config
  log: Logger
  clock: () => number
  /** The port that the hub listens on; the configured one until it listens. */
  listening: { port: number; httpsPort?: number | undefined }
  /** The hub's address for others. */
  portalUrl: () => string
}

/** `stop` runs only after `start`, if there is one. */
export type Task = { start?(): unknown; stop(): unknown }

/** What an `open` gives to later rooms. */
export type Gives<Open extends (hub: never) => unknown> =
  Awaited<ReturnType<Open>> extends { gives: infer G } ? G : never
