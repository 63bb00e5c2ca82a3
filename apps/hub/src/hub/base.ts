import type { Logger } from 'pino'
import type { Hashing } from '../accounts/passwords.ts'
import type { Config } from '../config.ts'

/** The inputs of every step of building a hub, besides the results of the earlier steps. */
export type Base = {
  config: Config
  log: Logger
  clock: () => number
  onTakenOver: (() => void) | undefined
  /** Hashes passwords; argon2id when undefined. */
  hashing: Hashing | undefined
  /** The port that the hub listens on; the configured one until it listens. */
  listening: { port: number; httpsPort?: number | undefined }
}
