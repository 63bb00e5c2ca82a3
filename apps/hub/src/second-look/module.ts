import type { Ground } from '../facts/room.ts'
import { createSecondLook } from './second-look.ts'

type Needs = Pick<Parameters<typeof createSecondLook>[1], 'cleanJpeg' | 'metrics'>

export function open(hub: Ground & Needs) {
  const secondLook = hub.config.secondLook && createSecondLook(hub.config.secondLook, hub)
  return { gives: { secondLook }, stop: () => secondLook?.stop() }
}
