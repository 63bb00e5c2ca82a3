import type { Gateway } from '@hedgerow/contract'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { GatewayState, useReason } from '#parts/gateway-state.tsx'
import { HelpLink } from '#parts/help-link.tsx'
import { ProtectionControls } from '#parts/protection-controls.tsx'
import { neverConnected } from './messages.ts'
import { useHubProblems } from './queries.ts'
import { findTroubles } from './troubles.ts'
import styles from './page.module.css'

const SHOWN = 5
const TONES = {
  vpn: 'danger',
  storage: 'danger',
  backup: 'warning',
  alerts: 'warning',
  rollout: 'warning',
  update: 'plain',
} as const

/**
 * The problems of the hub, and the gateways that have one, each with the reason; none when the hub told neither.
 */
export function NeedsAttention() {
  const { role } = useUser()
  const gateways = useGateways()
  const { failing, never } = useMemo(() => findTroubles(gateways.data ?? []), [gateways.data])
  const problems = useHubProblems().data ?? []
  const total = gateways.data?.length ?? 0
  if (gateways.data === undefined && problems.length === 0) return null
  return (
    <Panel
      title="Needs attention"
      actions={
        failing.length > SHOWN && (
          <Link to="/gateways?protection=attention" className={styles.all}>
            See all
          </Link>
        )
      }
    >
      {problems.map(({ part, message }) => (
        <Notice key={part} tone={TONES[part]}>
          {message}
          {part === 'vpn' && (
            <>
              {' '}
              <Link to="/settings?tab=network#enableVpn">Switch it on</Link>
            </>
          )}
          {part === 'update' && (
            <>
              {' '}
              <HelpLink to="upgrade">How to update it</HelpLink>
            </>
          )}
          {part === 'backup' && (
            <>
              {' '}
              <HelpLink to="backup">About backups</HelpLink>
            </>
          )}
          {part === 'rollout' && (
            <>
              {' '}
              <Link to="/versions">See the versions</Link>
            </>
          )}
          {part === 'alerts' && (
            <>
              {' '}
              <Link to="/alert-rules">See the alert rules</Link>
            </>
          )}
        </Notice>
      ))}
      {gateways.data === undefined ? null : total === 0 ? (
        <p className={styles.well}>
          No gateways yet.{' '}
          {mayManageFleet(role) ? (
            <Link to="/gateways">See how to add the first one</Link>
          ) : (
            <Link to="/gateways?do=claim">Claim yours</Link>
          )}
        </p>
      ) : failing.length + never.length === 0 ? (
        <p className={styles.well}>No gateway has a known problem.</p>
      ) : (
        <>
          <Troubles gateways={failing.slice(0, SHOWN)} />
          {never.length > 0 && (
            <details className={styles.never}>
              <summary>{neverConnected(never.length)}</summary>
              <Troubles gateways={never} />
            </details>
          )}
        </>
      )}
    </Panel>
  )
}

function Troubles({ gateways }: { gateways: readonly Gateway[] }) {
  return (
    <ul className={styles.troubles}>
      {gateways.map((gateway) => (
        <Trouble key={gateway.id} gateway={gateway} />
      ))}
    </ul>
  )
}

function Trouble({ gateway }: { gateway: Gateway }) {
  return (
    <li>
      <Link to={`/gateways/${gateway.id}`}>{gateway.name}</Link>
      <GatewayState gateway={gateway} brief />
      <span>{useReason(gateway)}</span>
      {gateway.kind === 'enrolled' && <ProtectionControls gateway={gateway} size="xs" />}
    </li>
  )
}
