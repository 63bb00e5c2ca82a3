import * as contract from '@hedgerow/contract'
import type { HubSettings } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { mount } from '../http/mount.ts'
import type { SwitchableVpn } from '../tunnel/tunnel.ts'
import { restoreVpnSettings, saveSettings } from './save.ts'
import { readSettings } from './settings.ts'

type SettingsDependencies = {
  db: Kysely<Tables>
  clock: () => number
  vpn: Pick<SwitchableVpn, 'configure'>
  peers: { persist(): Promise<void>; restore(): Promise<void> }
  /** For devices that waited for the tunnel. */
  admitWaiting(): Promise<void>
}

/**
 * Everybody signed in reads the settings. An admin changes them; the answer comes when the hub has applied the change.
 */
export function settingsRoutes(app: FastifyInstance, dependencies: SettingsDependencies): void {
  const { db, clock, vpn, peers, admitWaiting } = dependencies
  /** Applies changes one after the other, so that the tunnel matches the last one. */
  let changing: Promise<unknown> = Promise.resolve()

  mount(app, contract.readHubSettings, () => readSettings(db))

  for (const call of [contract.editHubSettings, contract.saveHubSettings])
    mount(app, call, ({ body, act }) => {
      const saved = changing.then(async () => {
        const { before, after } = await saveSettings(db, body, act)
        await followVpn(before, after)
        return after
      })
      changing = saved.catch(() => {})
      return saved
    })

  async function followVpn(before: HubSettings, after: HubSettings): Promise<void> {
    if (after.enableVpn === before.enableVpn && after.vpnNetwork === before.vpnNetwork) return
    await peers.persist()
    try {
      await configure(after)
    } catch (error) {
      const { enableVpn, vpnNetwork } = before
      await restoreVpnSettings(db, { enableVpn, vpnNetwork }, clock())
      await configure(before).catch(() => {})
      throw new HubError('vpn_start_failed', { cause: error })
    } finally {
      await admitWaiting()
    }
  }

  async function configure({ enableVpn, vpnNetwork }: HubSettings): Promise<void> {
    if (await vpn.configure({ enabled: enableVpn, networkCidr: vpnNetwork })) await peers.restore()
  }
}
