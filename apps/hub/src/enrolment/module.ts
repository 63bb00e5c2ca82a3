/** How devices join: requests, rules, invitations, and what a device downloads before it knows this hub. */
import type { Refusals } from '../access/refusals.ts'
import type { Proofs } from '../certificates/module.ts'
import { openDownloads } from '../downloads/downloads.ts'
import { downloadFiles, downloadRoutes } from '../downloads/routes.ts'
import { createAddressFor } from '../downloads/address.ts'
import type { App, Ground } from '../facts/room.ts'
import { heldDevices } from '../followers/held-devices.ts'
import { waitingDevices } from '../followers/waiters.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { admitHeld } from './holds.ts'
import { registrationRoutes } from './routes.ts'
import { ruleRoutes } from './rule-routes.ts'
import { createWaiters } from './waiters.ts'

export function open(hub: Ground & Proofs & Tunnel & { refusals: Refusals }) {
  const { db, clock, config, vpn } = hub
  const { publicUrl } = config
  const addressFor = createAddressFor({ publicUrl, ports: () => hub.listening, certificate: hub.tlsCertificate })
  const downloads = openDownloads({ folder: config.downloadsDir, addressFor, log: hub.log })
  const waiters = createWaiters()
  const admitWaiting = () => admitHeld(db, { clock, canApprove: () => vpn.disabledReason === undefined })
  return {
    gives: { downloads, admitWaiting, mountDownloads: (scope: App) => downloadFiles(scope, downloads) },
    follows: [waitingDevices(waiters), heldDevices(admitWaiting)],
    async routes(app: App) {
      registrationRoutes(app, { ...hub, waiters, requireRoom: hub.watch.requireRoom })
      ruleRoutes(app, { ...hub, publicUrl, downloads })
      await downloadRoutes(app, { ...hub, downloads })
    },
    onListening: admitWaiting,
  }
}
