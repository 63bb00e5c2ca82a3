import type { Gateway } from '@hedgerow/contract'

type Trouble = Pick<Gateway, 'id' | 'name' | 'status' | 'statusReason'>

/** Gateways that are not well: warnings first, since they can still be reached, then those that are gone, by name. */
export function findTroubles<G extends Trouble>(gateways: readonly G[]): readonly G[] {
  const troubled = gateways.filter(({ status }) => status !== 'online')
  return troubled.toSorted(
    (a, b) => Number(a.status === 'offline') - Number(b.status === 'offline') || a.name.localeCompare(b.name),
  )
}
