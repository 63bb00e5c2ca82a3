/** Sites for people: see, add, edit, delete, and put gateways in them. */
import * as contract from '@hedgerow/contract'
import type { App, Ground } from '../facts/room.ts'
import { mount } from '../http/mount.ts'
import { addSite, assignSite, deleteSite, editSite, listSites, usesOfSite } from './sites.ts'

export function open({ db, clock }: Ground) {
  return {
    routes(app: App) {
      mount(app, contract.listSites, ({ scope }) => listSites(db, scope))
      mount(app, contract.addSite, async ({ body, scope, act }) => {
        const id = await addSite(db, body, act)
        return (await listSites(db, scope)).find((site) => site.id === id)!
      })
      mount(app, contract.editSite, async ({ params, body, scope, act }) => {
        await editSite(db, params.id, body, act)
        return (await listSites(db, scope)).find((site) => site.id === params.id)!
      })
      mount(app, contract.siteUses, ({ params }) => usesOfSite(db, params.id, clock()))
      mount(app, contract.deleteSite, ({ params, act }) => deleteSite(db, params.id, act))
      mount(app, contract.assignSite, async ({ body, act }) => ({ changed: await assignSite(db, body, act) }))
    },
  }
}
