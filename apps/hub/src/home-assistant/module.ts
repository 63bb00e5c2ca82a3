import { readHomeAssistant } from '@hedgerow/contract'
import type { Commands } from '../commands/commands.ts'
import type { Facts } from '../facts/facts.ts'
import type { App, Ground } from '../facts/room.ts'
import type { Fleet } from '../fleet/module.ts'
import { mount } from '../http/mount.ts'
import type { BrokerSettings } from '../mqtt/mqtt.ts'
import { createHomeAssistant } from './home-assistant.ts'

type Needs = { facts: Facts; commands: Commands } & Pick<Parameters<typeof createHomeAssistant>[0], 'readPicture'>

export function open(hub: Ground & Fleet & Needs) {
  const homeAssistant = createHomeAssistant({
    ...hub,
    settings: hub.config.notifications['mqtt'] as BrokerSettings | undefined,
  })
  return {
    routes: (app: App) => mount(app, readHomeAssistant, async () => homeAssistant.state()),
    onListening: homeAssistant.start,
    stop: homeAssistant.stop,
  }
}
