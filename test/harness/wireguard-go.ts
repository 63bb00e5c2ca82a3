import type { Child } from './child-process.ts'
import type { NetworkNamespace } from './network-namespace.ts'
import { waitFor } from './wait-for.ts'

/**
 * Starts wireguard-go inside; resolves with the process when the interface exists. All wireguard-go of a machine listen
 * for `wg` in one directory, so `device` must be a name that no other run has.
 */
export async function startWireGuardGo(namespace: NetworkNamespace, device: string): Promise<Child> {
  const child = await namespace.start('wireguard-go', ['--foreground', device], {
    LOG_LEVEL: 'error',
    WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1',
  })
  const answers = () => namespace.run('wg', ['show', device]).catch(() => undefined)
  await waitFor(async () => (await answers()) !== undefined, { for: 'wireguard-go to answer' })
  return child
}

/** The same, with a key, a UDP port and an address of a /24, up and ready for peers. */
export async function openWireGuardGo(
  namespace: NetworkNamespace,
  { device, keyFile, port, address }: { device: string; keyFile: string; port: number; address: string },
): Promise<void> {
  const { run } = namespace
  await startWireGuardGo(namespace, device)
  await run('wg', ['set', device, 'private-key', keyFile, 'listen-port', String(port)])
  await run('ip', ['address', 'add', `${address}/24`, 'dev', device])
  await run('ip', ['link', 'set', device, 'mtu', '1420', 'up'])
}
