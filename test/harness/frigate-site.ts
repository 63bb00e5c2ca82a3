import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { admit } from './approval.ts'
import { startFrigate, type FrigateOptions, type TestFrigate } from './frigate.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'
import { startHub, type Hub } from './hub.ts'
import { waitFor } from './wait-for.ts'

/** A hub and, in its tunnel, an approved gateway with a Frigate beside it. */
export type FrigateSite = {
  hub: Hub
  frigate: TestFrigate
  gateway: TestGateway
  gatewayId: string
  stop(): Promise<void>
}

/** `file` is the text of gateway.yaml for this Frigate. */
export async function startFrigateSite(
  options: FrigateOptions,
  file: (frigate: TestFrigate) => string,
  gatewayOptions: (frigate: TestFrigate) => Partial<TestGatewayOptions> = () => ({}),
): Promise<FrigateSite> {
  const life = new AsyncDisposableStack()
  try {
    const hub = await startHub()
    life.defer(async () => void (await hub.stop()))
    const frigate = await startFrigate(options)
    life.defer(frigate.stop)
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-frigate-'))
    life.defer(() => rm(folder, { recursive: true, force: true }))
    const configFile = join(folder, 'gateway.yaml')
    await writeFile(configFile, file(frigate))
    const gateway = await startGateway(hub, { name: 'Orchard', configFile, ...gatewayOptions(frigate) })
    life.defer(gateway.stop)
    const gatewayId = await admit(hub)
    await waitFor(() => frigate.viewers() === 1, { for: "the agent at Frigate's WebSocket" })
    return { hub, frigate, gateway, gatewayId, stop: () => life.disposeAsync() }
  } catch (error) {
    await life.disposeAsync()
    throw error
  }
}
