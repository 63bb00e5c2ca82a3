import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import styles from './page.module.css'

/** Why a browser does not reach the origins of a gateway, the last one that was tried first, and what to do. */
export function Unreachable({ origins, path }: { origins: readonly string[]; path: string }) {
  return (
    <>
      <Notice tone="danger">
        Your browser does not reach the hub at{' '}
        {origins.map((origin, index) => (
          <span key={origin}>
            {index > 0 && ', nor at '}
            <Mono>{origin}</Mono>
          </span>
        ))}
        , where this gateway’s page is. Pages of gateways are not at the hub’s own address, so that they cannot touch
        the hub.
      </Notice>
      <ul className={styles.advice}>
        {origins.map((origin) => (
          <Advice key={origin} url={new URL(origin)} path={path} />
        ))}
      </ul>
    </>
  )
}

function Advice({ url, path }: { url: URL; path: string }) {
  const { origin, hostname, protocol, port } = url
  const address = (
    <a href={`${origin}${path}`}>
      <Mono>{origin}</Mono>
    </a>
  )
  if (hostname === location.hostname)
    return (
      <>
        <li>
          Firewalls and containers in between must let TCP port {port} through. <Mono>HUB_GATEWAY_PORTS</Mono> names all
          ports of gateways.
        </li>
        {protocol === 'https:' && (
          <>
            <li>
              A browser may want your consent to the hub’s certificate for each port: open {address}, accept the
              certificate, and you come back here.
            </li>
            <li>
              Where a reverse proxy has the certificate, gateways need names behind it: an administrator sets{' '}
              <Mono>HUB_GATEWAY_ORIGIN</Mono>.
            </li>
          </>
        )}
      </>
    )
  if (hostname.endsWith('.localhost')) return <li>Some browsers know no names below localhost.</li>
  return (
    <li>
      The name must lead to the hub, with a certificate that your browser trusts. See what it says about {address}.
    </li>
  )
}
