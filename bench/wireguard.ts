import { parseArgs } from 'node:util'
import { report } from './report.ts'
import { measureAead, measureDataPath } from './wireguard-data-path.ts'
import { measureForwarding } from './wireguard-forwarding.ts'
import { measureHandshakes } from './wireguard-handshakes.ts'
import { measurePeers } from './wireguard-peers.ts'

type Rows = Record<string, Record<string, number>>

/**
 * WireGuard alone, without TCP: what a packet and a handshake cost, what ten thousand peers cost, and how many packets go
 * through beside wireguard-go. `--only` picks parts by name; `--peers` and `--seconds` make the long one shorter.
 */
export async function benchWireGuard(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: '' },
      peers: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '25' },
    },
  })
  const parts: Record<string, () => Rows | Promise<Rows>> = {
    aead: measureAead,
    'data path': measureDataPath,
    handshakes: measureHandshakes,
    forwarding: measureForwarding,
    peers: () => measurePeers({ peers: Number(values.peers), seconds: Number(values.seconds) }),
  }
  const rows: Rows = {}
  for (const [name, measure] of Object.entries(parts)) {
    if (name.includes(values.only)) Object.assign(rows, await measure())
  }
  report('wireguard', rows)
}
