import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { usesOfSite } from './sites.ts'

export function siteRoutes(app: FastifyInstance, { db }: { db: Kysely<Tables> }): void {
  mount(app, contract.siteUses, ({ query }) => usesOfSite(db, query.site))
}
