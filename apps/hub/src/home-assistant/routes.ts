import { readHomeAssistant } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import type { HomeAssistant } from './home-assistant.ts'

export function homeAssistantRoutes(app: FastifyInstance, homeAssistant: Pick<HomeAssistant, 'state'>): void {
  mount(app, readHomeAssistant, () => Promise.resolve(homeAssistant.state()))
}
