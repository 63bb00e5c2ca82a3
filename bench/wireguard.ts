import { parseArgs } from 'node:util'
import { report } from './report.ts'
import { measureAead, measureDataPath } from './wireguard-data-path.ts'
import { measureForwarding } from './wireguard-forwarding.ts'
import { measureHandshakesBesideGo } from './wireguard-handshakes-beside-go.ts'
import { measureHandshakes } from './wireguard-handshakes.ts'
import { measurePeers } from './wireguard-peers.ts'

type Rows = Record<string, Record<string, number>>

/**
 * WireGuard alone, without TCP: the cost of a packet, a handshake and ten thousand peers, and the packet rate beside
 * wireguard-go. Names of parts pick them (`npm run bench wireguard peers`); `--peers` and `--seconds` make the long one
 * shorter. Each part takes less than two minutes.
 */
export async function benchWireGuard(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      peers: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '25' },
    },
  })
  const parts: Record<string, () => Rows | Promise<Rows>> = {
    aead: measureAead,
    'data-path': measureDataPath,
    handshakes: async () => ({ ...measureHandshakes(), ...(await measureHandshakesBesideGo()) }),
    forwarding: measureForwarding,
    peers: () => measurePeers({ peers: Number(values.peers), seconds: Number(values.seconds) }),
  }
  const strange = positionals.find((name) => !(name in parts))
  if (strange !== undefined) {
    throw new Error(`There is no part ${strange}; name some of ${Object.keys(parts).join(', ')}, or none for all.`)
  }
  const rows: Rows = {}
  for (const [name, measure] of Object.entries(parts)) {
    if (positionals.length === 0 || positionals.includes(name)) Object.assign(rows, await measure())
  }
  report('wireguard', rows)
}
