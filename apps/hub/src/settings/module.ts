import type { App, Gives, Ground } from '../facts/room.ts'
import { settingsRoutes } from './routes.ts'
import { keepSettings } from './settings.ts'

export type Settings = Gives<typeof open>

export const open = ({ db }: Ground) => ({ gives: { settings: keepSettings(db) } })

/** A change of the VPN is applied before it is answered. */
export const openChanges = (hub: Parameters<typeof settingsRoutes>[1]) => ({
  routes: (app: App) => settingsRoutes(app, hub),
})
