import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import type { Hub } from './hub.ts'
import { waitFor } from './wait-for.ts'

type Approving = Pick<Hub, 'api'>

/** Waits for a gateway that asks to join, and approves it. */
export async function approveNext({ api }: Approving): Promise<void> {
  const registrationId = await waitFor(async () => (await api(listPendingRegistrations))[0]?.registrationId, {
    for: 'a gateway that asks to join',
  })
  await api(approveRegistration, { params: { registrationId } })
}

/** Approves the hub's only gateway; resolves with its id once it is online, with or without a warning. */
export async function admit(hub: Approving): Promise<string> {
  await approveNext(hub)
  const isUp = ({ status }: { status: string }) => status !== 'offline'
  const { id } = await waitFor(async () => (await hub.api(listGateways)).find(isUp), {
    for: 'the gateway to be online',
  })
  return id
}
