import { cpSync } from 'node:fs'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { modelsFolder } from '../apps/gateway/src/models/store.ts'
import { startGateway, type TestGateway } from '../test/harness/gateway.ts'
import type { Hub } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'

/** A device that joins the hub; `file` is its gateway.yaml, `models` a folder with its models. */
export type Arrival = { name: string; location: string; isApproved: boolean; file?: object; models?: string }

const TIMEOUT_MS = 60_000

/** Starts the agents of these devices; each ends with `life`. */
export async function startDevices(
  hub: Hub,
  devices: readonly Arrival[],
  life: AsyncDisposableStack,
): Promise<TestGateway[]> {
  const gateways: TestGateway[] = []
  for (const { name, location, file = {}, models } of devices) {
    const before = (dataDir: string) => {
      if (models) cpSync(models, modelsFolder(dataDir), { recursive: true })
    }
    const gateway = await startGateway(hub, { name, location, file, before })
    life.defer(() => gateway.stop())
    gateways.push(gateway)
  }
  return gateways
}

/** Waits until all of `devices` ask to join, approves those with `isApproved`, and waits until they are online. */
export async function approveDevices(hub: Hub, devices: readonly Arrival[]): Promise<void> {
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
