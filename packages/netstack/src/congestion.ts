import type { CongestionControl } from './congestion-control.ts'
import { Cubic } from './cubic.ts'
import { NewReno } from './new-reno.ts'

export function createCongestionControl(name: 'cubic' | 'new-reno', segmentBytes: number): CongestionControl {
  return name === 'cubic' ? new Cubic(segmentBytes) : new NewReno(segmentBytes)
}
