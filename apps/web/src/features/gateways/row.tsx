import type { Gateway } from '@hedgerow/contract'
import { ActionIcon, Button, Menu } from '@mantine/core'
import { memo } from 'react'
import { MANAGER_NEEDED } from '#api/roles.ts'
import { Absent, ActionsCell, Cell, Row, TwoLines } from '#ui/data-table.tsx'
import { MoreIcon } from '#ui/icons.tsx'
import { Mono } from '#ui/mono.tsx'
import { RelativeTime } from '#ui/relative-time.tsx'
import { StatusMark, type MarkShape } from '#ui/status-mark.tsx'
import styles from './row.module.css'

const STATUS: ReadonlyMap<string, { shape: MarkShape; word: string }> = new Map([
  ['online', { shape: 'dot', word: 'Online' }],
  ['offline', { shape: 'ring', word: 'Offline' }],
  ['warning', { shape: 'diamond', word: 'Warning' }],
])

type GatewayRowProps = {
  gateway: Gateway
  index: number
  mayManage: boolean
  onConnect: (gateway: Gateway) => void
  onVpnConfig: (gateway: Gateway) => void
  measure: ((node: HTMLTableRowElement | null) => void) | undefined
}

/** One gateway; drawn again only when its own data changes, so that a search over thousands stays smooth. */
export const GatewayRow = memo(function GatewayRow({
  gateway,
  index,
  mayManage,
  onConnect,
  onVpnConfig,
  measure,
}: GatewayRowProps) {
  const status = STATUS.get(gateway.status) ?? { shape: 'neutral', word: gateway.status }
  return (
    <Row ref={measure} index={index}>
      <Cell label="Status" place="line">
        <StatusMark shape={status.shape} word={status.word} reason={gateway.statusReason} />
      </Cell>
      <Cell label="Gateway Name" place="title">
        <TwoLines first={<strong>{gateway.name}</strong>} second={<Mono>{gateway.id}</Mono>} />
      </Cell>
      <Cell label="Location">{gateway.location === '' ? <Absent>Unknown</Absent> : gateway.location}</Cell>
      <Cell label="IP Address">
        {gateway.publicIp === null ? (
          <Mono>{gateway.vpnInternalIp}</Mono>
        ) : (
          <TwoLines first={<Mono>{gateway.publicIp}</Mono>} second={<Mono>{gateway.vpnInternalIp}</Mono>} />
        )}
      </Cell>
      <Cell label="Version">{gateway.version ?? <Absent>Unknown</Absent>}</Cell>
      <Cell label="Last Seen">
        <RelativeTime at={gateway.lastSeen} />
      </Cell>
      <Cell label="Connected Users" numeric>
        {gateway.connectedUsers.toLocaleString()}
      </Cell>
      <ActionsCell>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Connect to ${gateway.name}`}
          onClick={() => onConnect(gateway)}
        >
          Connect
        </Button>
        <Menu
          position="bottom-end"
          width={220}
          withinPortal={false}
          withInitialFocusPlaceholder={false}
          transitionProps={{ duration: 100 }}
        >
          <Menu.Target>
            <ActionIcon variant="subtle" size={28} aria-label={`More actions for ${gateway.name}`}>
              <MoreIcon />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {mayManage ? (
              <Menu.Item onClick={() => onVpnConfig(gateway)}>VPN Config</Menu.Item>
            ) : (
              <Menu.Item aria-disabled="true" data-disabled closeMenuOnClick={false}>
                VPN Config
                <span className={styles.reason}>{MANAGER_NEEDED}</span>
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </ActionsCell>
    </Row>
  )
})
