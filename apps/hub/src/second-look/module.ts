import type { Database } from '../database/module.ts'
import type { Base } from '../kernel/room.ts'
import { createSecondLook } from './second-look.ts'

type Needs = Pick<Parameters<typeof createSecondLook>[1], 'cleanJpeg' | 'metrics'>

export function open(hub: Base & Database & Needs) {
  const secondLook = hub.config.secondLook && createSecondLook(hub.config.secondLook, hub)
  return { gives: { secondLook }, stop: () => secondLook?.stop() }
}
