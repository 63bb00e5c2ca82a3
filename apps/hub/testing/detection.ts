import type { PicturedDetection } from '../src/detections/detections.ts'
import type { TestHub } from './hub.ts'

/** A boar that a camera sees now. */
export function testDetection(
  { clock }: Pick<TestHub, 'clock'>,
  id: string,
  fields: Partial<PicturedDetection> = {},
): PicturedDetection {
  return {
    id,
    camera: 'orchard',
    label: 'boar',
    severity: 'alert',
    score: 0.9,
    startedAt: new Date(clock.now()).toISOString(),
    ...fields,
  }
}
