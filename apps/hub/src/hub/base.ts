import type { Logger } from 'pino'
import type { Config } from '../config.ts'

/** What every step of building a hub is given, before the results of the earlier ones. */
export type Base = {
  config: Config
  log: Logger
  clock: () => number
  onTakenOver: (() => void) | undefined
  /** The port that the hub listens on; the configured one until it listens. */
  listening: { port: number }
}
