import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { HelpLink } from '#parts/help-link.tsx'
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

/** Whether the origin is a port of the hub itself, at which browsers may ask once more about its certificate. */
export function wantsConsent(origin: string): boolean {
  const { hostname, protocol } = new URL(origin)
  return protocol === 'https:' && hostname === location.hostname
}

function Advice({ url, path }: { url: URL; path: string }) {
  const { origin, hostname, port } = url
  if (hostname === location.hostname)
    return (
      <>
        {wantsConsent(origin) && (
          <li>
            Some browsers, such as Firefox, want your consent to the hub’s certificate for each port, so once for each
            gateway: accept the certificate there, and the gateway opens. A browser that trusts the hub’s certificate
            does not ask. <HelpLink to="tls">How it comes to</HelpLink>
          </li>
        )}
        <li>
          Firewalls and containers in between must let TCP port {port} through. <Mono>HUB_GATEWAY_PORTS</Mono> names all
          ports of gateways.
        </li>
        {wantsConsent(origin) && (
          <li>
            Where a reverse proxy has the certificate, gateways need names behind it: an administrator sets{' '}
            <Mono>HUB_GATEWAY_ORIGIN</Mono>.
          </li>
        )}
      </>
    )
  if (hostname.endsWith('.localhost')) return <li>Some browsers know no names below localhost.</li>
  return (
    <li>
      The name must lead to the hub, with a certificate that your browser trusts. See what it says about{' '}
      <a href={`${origin}${path}`}>
        <Mono>{origin}</Mono>
      </a>
      .
    </li>
  )
}
