import type { GatewayDetail } from '@hedgerow/contract'
import { ConditionList } from '@hedgerow/ui/condition-list.tsx'

const STEPS = {
  registered: 'Registered',
  approved: 'Approved',
  handshake: 'VPN handshake',
  heartbeat: 'Heartbeat',
} as const

export function Conditions({ conditions }: { conditions: GatewayDetail['ladder'] }) {
  return <ConditionList conditions={conditions.map((one) => ({ ...one, key: one.step, label: STEPS[one.step] }))} />
}
