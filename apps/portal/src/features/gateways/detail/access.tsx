import type { GatewayDetail } from '@hedgerow/contract'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { PanelEmpty, PanelForbidden } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import styles from './gateway-page.module.css'

/** Who opened the gateway's page through the hub, newest first. */
export function Access({ access, maySee }: { access: GatewayDetail['access']; maySee: boolean }) {
  if (!maySee) return <PanelForbidden>Managers and administrators see who opened this gateway.</PanelForbidden>
  if (access.length === 0) {
    return (
      <PanelEmpty title="Nobody yet">People who open the gateway’s page through the hub are listed here.</PanelEmpty>
    )
  }
  return (
    <ul className={styles.access}>
      {access.map(({ username, startedAt, sourceIp }) => (
        <li key={`${startedAt} ${username} ${sourceIp}`}>
          <strong>{username}</strong>
          <RelativeTime at={startedAt} />
          <span>
            from <Mono>{sourceIp}</Mono>
          </span>
        </li>
      ))}
    </ul>
  )
}
