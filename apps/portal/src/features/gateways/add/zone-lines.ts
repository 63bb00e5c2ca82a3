/**
 * The lines of a DNS zone with which devices find this hub (docs/operations/dns.md). Pure.
 */
const EXAMPLE = 'example.net'
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

export type ZoneLines = {
  lines: string[]
  /** True when the zone is an example, because the hub has no DNS name; the person replaces it by their own. */
  isExample: boolean
}

export function zoneLines(hubUrl: string, fingerprint: string): ZoneLines {
  const { protocol, hostname, port } = new URL(hubUrl)
  const { zone, target, address, isExample } = namesOf(hostname)
  const service = `_hedgerow._tcp.${zone}.`
  return {
    lines: [
      ...(address === undefined ? [] : [`${target} ${address}`]),
      `${service} SRV 10 60 ${port || (protocol === 'https:' ? '443' : '80')} ${target}`,
      ...(protocol === 'https:' ? [] : [`${service} TXT "scheme=http"`]),
      `${service} TXT "fp=${fingerprint}"`,
    ],
    isExample,
  }
}

function namesOf(hostname: string): { zone: string; target: string; address?: string; isExample: boolean } {
  const example = { zone: EXAMPLE, target: `hub.${EXAMPLE}.`, isExample: true }
  if (hostname.startsWith('[')) return { ...example, address: `AAAA ${hostname.slice(1, -1)}` }
  if (IPV4.test(hostname)) return { ...example, address: `A ${hostname}` }
  const labels = hostname.split('.')
  if (labels.length < 2 || labels.at(-1) === 'localhost') return example
  const zone = labels.length === 2 ? hostname : labels.slice(1).join('.')
  return { zone, target: `${hostname}.`, isExample: false }
}
