import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/module.ts'
import type { Base, Gives } from '../kernel/room.ts'
import type { SwitchableVpn } from '../tunnel/tunnel.ts'
import { settingsRoutes, type SettingsDependencies } from './routes.ts'
import { keepSettings } from './settings.ts'

export type Settings = Gives<typeof open>

export const open = ({ db }: Base & Database) => ({ gives: { settings: keepSettings(db) } })

type Applied = { vpn: SwitchableVpn; peers: SettingsDependencies['peers']; admitWaiting(): Promise<void> }

/** A change of the VPN is applied before it is answered. */
export const openChanges = (hub: Base & Database & Applied) => ({
  routes: (app: FastifyInstance) => settingsRoutes(app, { ...hub, onVpnConfigured: hub.admitWaiting }),
})
