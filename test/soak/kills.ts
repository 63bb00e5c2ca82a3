import { setTimeout as sleep } from 'node:timers/promises'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { createRandom } from '@hedgerow/vision/rendered'
import { patiently } from '../harness/patiently.ts'
import { waitFor } from '../harness/wait-for.ts'
import { allBack, openSite, type Found } from './site.ts'

const BACK_LIMIT_MS = 600_000
const APPROVALS_A_KILL = 2
/** An approval takes some milliseconds, so the kills hit before, during and after its commit. */
const KILL_WITHIN_MS = 25
/** The most requests that may wait in a hub's queue. */
const GATEWAYS_MAX = 900

/** Approves and is killed, again and again: no approval is lost, and each gateway has one address of its own. */
export async function kills(options: { kills: number }): Promise<Found> {
  await using life = new AsyncDisposableStack()
  const gateways = Math.min(options.kills * APPROVALS_A_KILL, GATEWAYS_MAX)
  const { hub, fleet } = await openSite({ gateways, invited: false }, life)
  const random = createRandom(7)
  const answered = new Set<string>()
  for (let kill = 0; kill < options.kills; kill++) {
    const pending = await hub.api(listPendingRegistrations)
    const dead = sleep(random.between(0, KILL_WITHIN_MS)).then(() => hub.kill9())
    for (const { registrationId, deviceName } of pending.slice(0, APPROVALS_A_KILL))
      await hub.api(approveRegistration, { params: { registrationId } }).then(
        () => answered.add(deviceName),
        () => {},
      )
    await dead
    await hub.restart()
  }
  const killedApprovals = answered.size
  for (const { registrationId } of await waitFor(() => hub.api(listPendingRegistrations), { for: 'the queue' }))
    await patiently(() => hub.api(approveRegistration, { params: { registrationId } }))
  const isBack = await allBack(fleet, BACK_LIMIT_MS)
  const listed = await hub.api(listGateways)
  const names = new Set(listed.map(({ name }) => name))
  const addresses = new Set(listed.map(({ vpnInternalIp }) => vpnInternalIp))
  const broken: string[] = []
  const lost = [...answered].filter((name) => !names.has(name))
  if (lost.length > 0) broken.push(`approvals were lost: ${lost.join(', ')}`)
  if (listed.length !== gateways || names.size !== gateways)
    broken.push(`${listed.length} gateways instead of ${gateways}`)
  if (addresses.size !== listed.length) broken.push('two gateways have one address')
  if (!isBack) broken.push('not every gateway came back')
  return {
    figures: { kills: options.kills, 'approved between them': killedApprovals, gateways: listed.length },
    broken,
  }
}
