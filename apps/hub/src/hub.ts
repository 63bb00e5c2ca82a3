/**
 * The hub: its rooms in order. Each takes by name what it needs of the rooms before it, and is taken down before them.
 * Called by program.ts, and by tests through testing/hub.ts.
 */
import type { Logger } from 'pino'
import * as accounts from './accounts/module.ts'
import type { Hashing } from './accounts/passwords.ts'
import * as alerts from './alerts/module.ts'
import * as cameras from './cameras/module.ts'
import * as certificates from './certificates/module.ts'
import * as commands from './commands/module.ts'
import type { Config } from './config.ts'
import * as dashboard from './dashboard/module.ts'
import * as detections from './detections/module.ts'
import * as enrolment from './enrolment/module.ts'
import * as events from './events/module.ts'
import * as facts from './facts/module.ts'
import type { Base, Ground } from './facts/room.ts'
import * as fleet from './fleet/module.ts'
import { openRecords } from './followers/followers.ts'
import * as gatewayProxy from './gateway-proxy/module.ts'
import * as homeAssistant from './home-assistant/module.ts'
import { portalUrlOf } from './http/addresses.ts'
import * as http from './http/module.ts'
import * as metrics from './metrics/module.ts'
import { listRooms } from './open-rooms.ts'
import * as oidc from './oidc/module.ts'
import * as secondLook from './second-look/module.ts'
import * as settings from './settings/module.ts'
import * as sites from './sites/module.ts'
import * as tunnel from './tunnel/module.ts'
import * as updates from './updates/module.ts'
import * as upkeep from './upkeep/module.ts'

type Options = {
  /** Called when another hub has taken this one's database: this hub must end. */
  onTakenOver?: () => void
  /** Hashes passwords, argon2id by default. */
  hashing?: Hashing
}
export type HubOptions = Options & { config: Config; log: Logger; clock?: () => number }
export type Hub = Awaited<ReturnType<typeof createHub>>

const rooms = listRooms<Base & Options>()
  .add(facts.lock) // before the first read: another hub may still write
  .add(facts.open)
  .add(({ db, log }: Ground) => ({ gives: { facts: openRecords(db, { log }) } }))
  .add(metrics.openCounters)
  .add(http.openLimits)
  .add(accounts.open)
  .add(oidc.open)
  .add(certificates.open)
  .add(settings.open)
  .add(tunnel.open)
  .add(enrolment.open)
  .add(settings.openChanges)
  .add(alerts.open)
  .add(accounts.openMail)
  .add(upkeep.open) // starts after the alerts, which tell what the first look at the disk finds
  .add(detections.open)
  .add(fleet.open)
  .add(alerts.openProblems)
  .add(gatewayProxy.open)
  .add(http.open) // stops before all above, which the last calls still need
  .add(events.open) // stops before the listeners, as all below: a stream of events never ends by itself
  .add(secondLook.open)
  .add(metrics.open)
  .add(updates.open)
  .add(commands.open)
  .add(homeAssistant.open)
  .add(sites.open)
  .add(fleet.openCalls) // starts last and stops first: gateways call only a whole hub
  .add(dashboard.open)
  .add(cameras.open)
  .add(http.openWeb)

/** Rejects with the error of a room after taking down those that were opened. */
export async function createHub({ clock = Date.now, ...options }: HubOptions) {
  const { config } = options
  const stack = new AsyncDisposableStack()
  const listening: Base['listening'] = { port: config.port }
  const portalUrl = () => portalUrlOf(config, listening.port)
  try {
    const hub = await rooms.open({ ...options, clock, listening, portalUrl }, stack)
    return {
      ...hub,
      /** Listens; before it, only `app.inject()` reaches the hub. */
      async start() {
        await hub.listen()
        await hub.onListening()
        const { port, httpsPort } = listening
        return { url: `http://localhost:${port}`, port, httpsPort }
      },
      stop: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
