/** What the rooms of the hub have in common; hub.ts lists them. */
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { StorageWatch } from '../database/storage-watch.ts'
import type { Tables } from '../database/tables.ts'
import type { CommitFollower, TransactionFollower } from './facts.ts'

export type Base = {
  config: Config
  log: Logger
  clock: () => number
  /** The port that the hub listens on; the configured one until it listens. */
  listening: { port: number; httpsPort?: number | undefined }
  /** The hub's address for others. */
  portalUrl: () => string
}

/** What every room may take; what it takes of earlier rooms comes with it, by name. */
export type Ground = Base & { db: Kysely<Tables>; watch: StorageWatch }

export type App = FastifyInstance

/** `stop` runs only after `start`, if there is one. */
type Task = { start?(): unknown; stop(): unknown }

export type Room = {
  /** By name, for the rooms after this one. */
  gives?: object
  follows?: readonly (TransactionFollower | CommitFollower)[]
  routes?(app: App): unknown
  /** Start in this order, when every room is open and follows its facts; stop in reverse. */
  tasks?: readonly Task[]
  onListening?(): unknown
  /** Runs after its tasks have stopped. */
  stop?(): unknown
}

/** What an `open` gives to later rooms. */
export type Gives<Open extends (hub: never) => unknown> =
  Awaited<ReturnType<Open>> extends { gives: infer G } ? G : never
