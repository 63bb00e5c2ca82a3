import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { startGateway, type TestGateway } from '../test/harness/gateway.ts'
import type { Hub } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import type { Device } from './demo-fleet.ts'

const TIMEOUT_MS = 30_000

/** Starts the agents of these devices; each ends with `life`. */
export async function startDevices(
  hub: Hub,
  devices: readonly Device[],
  life: AsyncDisposableStack,
): Promise<TestGateway[]> {
  const gateways: TestGateway[] = []
  for (const { name, location } of devices) {
    const gateway = await startGateway(hub, { name, location })
    life.defer(() => gateway.stop())
    gateways.push(gateway)
  }
  return gateways
}

/** Waits until all of `devices` ask to join, approves those to be approved, and waits until they are online. */
export async function approveDevices(hub: Hub, devices: readonly Device[]): Promise<void> {
  const pending = await waitFor(
    async () => {
      const waiting = await hub.api(listPendingRegistrations)
      return waiting.length === devices.length ? waiting : undefined
    },
    { for: 'the gateways to ask for approval', timeoutMs: TIMEOUT_MS },
  )
  const approved = devices.filter(({ isApproved }) => isApproved).map(({ name }) => name)
  for (const { registrationId, deviceName } of pending)
    if (approved.includes(deviceName)) await hub.api(approveRegistration, { params: { registrationId } })
  const isOnline = async () =>
    (await hub.api(listGateways)).filter(({ status }) => status === 'online').length === approved.length
  await waitFor(isOnline, { for: 'the approved gateways to be online', timeoutMs: TIMEOUT_MS })
}
