import type { FastifyInstance } from 'fastify'
import type { Commands } from '../commands/commands.ts'
import type { Database } from '../database/module.ts'
import type { Facts } from '../facts/facts.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Base } from '../kernel/room.ts'
import type { BrokerSettings } from '../mqtt/mqtt.ts'
import { createHomeAssistant } from './home-assistant.ts'
import { homeAssistantRoutes } from './routes.ts'

type Needs = { facts: Facts; commands: Commands } & Pick<Parameters<typeof createHomeAssistant>[0], 'readPicture'>

export function open(hub: Base & Database & Fleet & Needs) {
  const homeAssistant = createHomeAssistant({
    ...hub,
    settings: hub.config.notifications['mqtt'] as BrokerSettings | undefined,
    statuses: hub.presence.statuses,
    latest: hub.heartbeats.latest,
    give: hub.commands.give,
  })
  return {
    routes: (app: FastifyInstance) => homeAssistantRoutes(app, homeAssistant),
    onListening: homeAssistant.start,
    stop: homeAssistant.stop,
  }
}
