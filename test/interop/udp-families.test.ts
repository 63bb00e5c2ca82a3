import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startChild } from '../harness/child-process.ts'
import { refuseBesideBrowsers } from '../harness/network-namespace.ts'
import { skipWithout } from '../harness/privileges.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Two interfaces: the hub's on every address, and one peer by IPv4 and one by IPv6. Prints both peers' endpoints. */
const PROGRAM = `
import { generateKeyPair, openInterface, openOnBothFamilies } from '@hedgerow/wireguard/node'
import { ipv4Packet } from '${ROOT}/packages/wireguard/src/simulator/packet.ts'
const received = []
const hub = await openOnBothFamilies({
  privateKey: generateKeyPair().privateKey,
  onPacket: (packet) => {
    received.push(packet)
    hub.send(ipv4Packet('10.0.0.1', packet[15] === 2 ? '10.0.0.2' : '10.0.0.3', 60))
  },
})
for (const [last, host, address] of [[2, '127.0.0.1', '127.0.0.1'], [3, '::1', '::1']]) {
  const answered = Promise.withResolvers()
  const gateway = await openInterface({ privateKey: generateKeyPair().privateKey, host, onPacket: answered.resolve })
  hub.addPeer({ publicKey: gateway.publicKey, allowedIps: ['10.0.0.' + last + '/32'] })
  gateway.addPeer({ publicKey: hub.publicKey, allowedIps: ['10.0.0.1/32'], endpoint: { address, port: hub.port } })
  gateway.send(ipv4Packet('10.0.0.' + last, '10.0.0.1', 60))
  await answered.promise
  console.log('answered by', hub.peer(gateway.publicKey).endpoint.address)
  await gateway.close()
}
await hub.close()
`

describe.skipIf(skipWithout('UDP of both families', 'root', 'command unshare'))('the hub hears IPv4 and IPv6', () => {
  refuseBesideBrowsers()

  test.each([0, 1])('also where a socket of IPv6 takes no IPv4: bindv6only=%i', async (bindv6only) => {
    const script = `ip link set lo up && echo ${bindv6only} >/proc/sys/net/ipv6/bindv6only && exec "$0" "$@"`
    const child = await startChild('unshare', [
      '--net',
      '--mount',
      '--mount-proc',
      'sh',
      '-c',
      script,
      'env',
      '-C',
      join(ROOT, 'apps/hub'),
      process.execPath,
      '--input-type=module',
      '--eval',
      PROGRAM,
    ])
    await child.says(/answered by 127\.0\.0\.1\nanswered by ::1\n/)
    expect(await child.ended, child.output()).toMatchObject({ code: 0 })
  })
})
