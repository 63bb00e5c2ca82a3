import type { GatewayDetail } from '@hedgerow/contract'
import { GATEWAY_TEXTS, gatewayTexts } from '@hedgerow/contract/gateway-fields'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { formatBytes } from './amounts.ts'
import styles from './gateway-page.module.css'

/** A gateway's site, place, tags, owner, keys and addresses. */
export function About({ gateway }: { gateway: GatewayDetail }) {
  const details: (readonly [string, ReactNode])[] = [
    ...(gateway.site === null
      ? []
      : [
          [
            'Site',
            <Link key="site" to={`/gateways?site=${gateway.site.id}`}>
              {gateway.site.name}
            </Link>,
          ] as const,
        ]),
    ...GATEWAY_TEXTS.flatMap((name) => {
      const { label, ifEmpty } = gatewayTexts[name]
      const text = gateway[name] === '' ? ifEmpty : gateway[name]
      return text === undefined ? [] : [[label, text] as const]
    }),
    ...(gateway.tags.length === 0
      ? []
      : [
          [
            'Tags',
            <span key="tags" className={styles.tags}>
              {gateway.tags.map((tag) => (
                <Link key={tag} to={`/gateways?tag=${encodeURIComponent(tag)}`}>
                  {tag}
                </Link>
              ))}
            </span>,
          ] as const,
        ]),
    ['Kind', gateway.kind === 'enrolled' ? 'Runs the agent' : 'Plain WireGuard'],
    ['Owner', gateway.owner ?? 'Nobody has claimed it'],
    ['Gateway ID', <Mono key="id">{gateway.id}</Mono>],
    ['VPN address', <Mono key="vpn">{gateway.vpnInternalIp}</Mono>],
    ['Public address', gateway.publicIp === null ? 'Unknown' : <Mono key="public">{gateway.publicIp}</Mono>],
    ['Version', gateway.version ?? 'Unknown'],
    ...(gateway.deviceToken === null
      ? []
      : [['Device token', <Mono key="token">{gateway.deviceToken}</Mono>] as const]),
    ...(gateway.fingerprint === null ? [] : [['Fingerprint', <Mono key="print">{gateway.fingerprint}</Mono>] as const]),
    ...(gateway.traffic === null
      ? []
      : [
          [
            'Traffic',
            `${formatBytes(gateway.traffic.receivedBytes)} received, ${formatBytes(gateway.traffic.sentBytes)} ` +
              'sent since the tunnel started',
          ] as const,
        ]),
    ['Added', <RelativeTime key="added" at={gateway.createdAt} />],
  ]
  return (
    <div className={styles.part}>
      <DetailList details={details} />
    </div>
  )
}
