import { once } from 'node:events'
import { connect } from 'node:net'
import type { Child } from './child-process.ts'
import type { NetworkNamespace } from './network-namespace.ts'
import { waitFor } from './wait-for.ts'

/**
 * Starts wireguard-go inside; resolves with the process when `wg` can ask it. All wireguard-go of a machine listen
 * for `wg` in one directory, so `device` must be a name that no other run has.
 */
export async function startWireGuardGo(namespace: NetworkNamespace, device: string): Promise<Child> {
  const child = await namespace.start('wireguard-go', ['--foreground', device], {
    LOG_LEVEL: 'error',
    WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1',
  })
  await waitFor(() => isListening(device), { for: 'wireguard-go to listen' })
  return child
}

/** `wg` must not ask before: it removes the socket of a device that refuses it (wireguard-tools, ipc-uapi-unix.h). */
async function isListening(device: string): Promise<true> {
  const socket = connect(`/var/run/wireguard/${device}.sock`)
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}

/** The same, with a key, a UDP port and an address of a /24, up and ready for peers. */
export async function openWireGuardGo(
  namespace: NetworkNamespace,
  { device, keyFile, port, address }: { device: string; keyFile: string; port: number; address: string },
): Promise<Child> {
  const { run } = namespace
  const child = await startWireGuardGo(namespace, device)
  await run('wg', ['set', device, 'private-key', keyFile, 'listen-port', String(port)])
  await run('ip', ['address', 'add', `${address}/24`, 'dev', device])
  await run('ip', ['link', 'set', device, 'mtu', '1420', 'up'])
  return child
}
