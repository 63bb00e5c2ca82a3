/**
 * Commands from the broker. They are off until an admin turns them on in the settings, have the rights of a manager,
 * and go the way of all commands; the audit names Home Assistant. Whoever may publish to these topics can give them, so
 * the broker's own rules decide who that is.
 */
import { createBuckets } from '@hedgerow/http'
import type { Caller } from '../access/sessions.ts'
import type { Commands } from '../commands/commands.ts'
import type { Received } from '../mqtt/mqtt.ts'
import { keyOf } from './device.ts'

/** No person can take this name: usernames have no spaces. */
const HOME_ASSISTANT: Caller = { userId: '', username: 'Home Assistant', role: 'manager', sessionId: '' }
/** The rates for one gateway and for all. A stop has rates of its own, far above what a person needs. */
const PER_GATEWAY = { burst: 5, perSecond: 0.2 }
const OVERALL = { burst: 30, perSecond: 1 }
const STOPS = { burst: 30, perSecond: 1 }
const GATEWAYS_MAX = 10_000

type CommandRequest = Parameters<Commands['give']>[0]

export function createMqttCommands(options: {
  base: string
  clock: () => number
  give: Commands['give']
  /** The gateway's deterrents, by name. */
  deterrentsOf: (gatewayId: string) => readonly string[]
  /** Called with the reason, in a few words. */
  onRefused: (reason: string) => void
  /** Called when the command has ended, whatever its outcome. */
  onEnded: (gatewayId: string) => void
}) {
  const { base, clock, give, deterrentsOf, onRefused, onEnded } = options
  const perGateway = createBuckets(PER_GATEWAY, GATEWAYS_MAX)
  const overall = createBuckets(OVERALL, 1)
  const stops = createBuckets(STOPS, GATEWAYS_MAX)
  /** One command of each kind may be under way. */
  const underWay = new Set<string>()

  function isWithinRates(gatewayId: string, isStop: boolean): boolean {
    const [own, all] = [[{ key: gatewayId, share: 1 }], [{ key: 'all', share: 1 }]]
    const now = clock()
    if (isStop) {
      if (stops.waitMs(own, now) > 0) return false
      stops.add(own, -1)
      return true
    }
    if (Math.max(perGateway.waitMs(own, now), overall.waitMs(all, now)) > 0) return false
    perGateway.add(own, -1)
    overall.add(all, -1)
    return true
  }

  function commandIn({ topic, payload }: Received): CommandRequest | undefined {
    const [, gatewayId, what] = /^gateways\/([a-z2-7]{12})\/set\/(\w{1,30})$/.exec(topic.slice(base.length + 1)) ?? []
    const word = payload.subarray(0, 10).toString('latin1')
    if (gatewayId === undefined || what === undefined) return undefined
    if (what === 'stop') return word === 'STOP' ? { gatewayId, action: 'stop' } : undefined
    if (word !== 'ON' && word !== 'OFF') return undefined
    if (what === 'armed') return { gatewayId, action: word === 'ON' ? 'arm' : 'disarm' }
    const deterrent = deterrentsOf(gatewayId).find((name) => keyOf('deterrent', name) === what)
    return deterrent === undefined ? undefined : { gatewayId, action: word === 'ON' ? 'fire' : 'stop', deterrent }
  }

  return {
    topics: [`${base}/gateways/+/set/+`],

    /** Returns at once. */
    take(message: Received): void {
      // The broker's copy may be of any age. A command that arrives live has no such mark (MQTT 3.1.1 §3.3.1.3).
      if (message.retained) return onRefused('it was retained')
      const command = commandIn(message)
      if (!command) return onRefused('it is no command of a gateway')
      const { gatewayId, action, deterrent = '' } = command
      const isStop = action === 'stop' || action === 'disarm'
      const kind = `${gatewayId} ${action} ${deterrent}`
      if (underWay.has(kind)) return onRefused('the same is under way')
      if (!isWithinRates(gatewayId, isStop)) return onRefused('there were too many')
      underWay.add(kind)
      give(command, { actor: HOME_ASSISTANT, sourceIp: '', now: clock() })
        .catch((error: unknown) => onRefused(error instanceof Error ? error.message : String(error)))
        .finally(() => {
          underWay.delete(kind)
          onEnded(gatewayId)
        })
    },
  }
}
