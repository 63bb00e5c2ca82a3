import type { Database } from '../database/module.ts'
import type { Base, Gives } from '../kernel/room.ts'
import { openRecords } from './followers.ts'

export type Records = Gives<typeof open>

/** The facts, with the followers that the hub's command line has too. */
export const open = ({ db, log }: Base & Database) => ({ gives: { facts: openRecords(db, { log }) } })
