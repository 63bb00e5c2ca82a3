import type { Camera, Gateway } from '@hedgerow/contract'
import { memo, useCallback } from 'react'
import { loadCameraPicture } from '#api/cameras.ts'
import { Absent, ActionsCell, Cell, Row, RowName, TickCell, TwoLines } from '@hedgerow/ui/data-table.tsx'
import { LivePicture } from '@hedgerow/ui/live-picture.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { RowButton } from '@hedgerow/ui/row-button.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { GatewayState, isWell, useReason } from '#parts/gateway-state.tsx'
import type { GatewayVerb } from '../dialogs/dialogs.tsx'
import { GatewayMenu } from '../gateway-menu.tsx'
import styles from '../row.module.css'

type GatewayRowProps = {
  gateway: Gateway
  index: number
  /** The camera that a card shows; undefined in a table. */
  camera?: Camera | 'none' | 'loading' | undefined
  /** What the state of a gateway shows that is well. */
  ifWell: 'status' | 'protection'
  mayManage: boolean
  selected: boolean
  onSelect: (id: string, selected: boolean) => void
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
  measure: ((node: HTMLTableRowElement | null) => void) | undefined
}

/** One gateway. It is rendered again only when its own data changes, so that a search over thousands stays smooth. */
export const GatewayRow = memo(function GatewayRow({
  gateway,
  index,
  camera,
  ifWell,
  mayManage,
  selected,
  onSelect,
  onVerb,
  measure,
}: GatewayRowProps) {
  const path = `/gateways/${gateway.id}`
  return (
    <Row ref={measure} index={index} to={path} className={styles.row} aria-selected={selected}>
      <TickCell>
        <TickBox
          label={`Select ${gateway.name}`}
          checked={selected}
          onChange={(checked) => onSelect(gateway.id, checked)}
        />
      </TickCell>
      <Cell label="Status" place="line">
        <GatewayState gateway={gateway} ifWell={ifWell} />
      </Cell>
      <Cell label="Gateway Name" place="title">
        <TwoLines
          first={
            <a href={path} className={styles.name}>
              <RowName>{gateway.name}</RowName>
            </a>
          }
          second={<Mono>{gateway.id}</Mono>}
        />
      </Cell>
      {camera !== undefined && (
        <Cell label="Newest picture" place="picture">
          {typeof camera === 'object' ? (
            <CardPicture camera={camera} />
          ) : (
            camera === 'none' && <Absent>No camera</Absent>
          )}
        </Cell>
      )}
      <Cell label="Location">
        <Place {...gateway} />
      </Cell>
      <Cell label="IP Address">
        {gateway.publicIp === null ? (
          <Mono>{gateway.vpnInternalIp}</Mono>
        ) : (
          <TwoLines first={<Mono>{gateway.publicIp}</Mono>} second={<Mono>{gateway.vpnInternalIp}</Mono>} />
        )}
      </Cell>
      <Cell label="Version">{gateway.version ?? <Absent>Unknown</Absent>}</Cell>
      <Cell label="Last Seen" place="beside">
        <RelativeTime at={gateway.lastSeen} />
      </Cell>
      <Cell label="Connected Users" numeric>
        {gateway.connectedUsers.toLocaleString()}
      </Cell>
      {!isWell(gateway) && (
        <Cell label="Reason" place="below">
          <Reason gateway={gateway} />
        </Cell>
      )}
      <ActionsCell>
        <RowButton aria-label={`Connect to ${gateway.name}`} onClick={() => onVerb('connect', gateway)}>
          Connect
        </RowButton>
        <GatewayMenu gateway={gateway} mayManage={mayManage} onVerb={onVerb} />
      </ActionsCell>
    </Row>
  )
})

const Reason = ({ gateway }: { gateway: Gateway }) => useReason(gateway)

function Place({ location, site, tags }: Pick<Gateway, 'location' | 'site' | 'tags'>) {
  const words = site && location && site.name !== location ? `${location} (${site.name})` : location || site?.name
  const place = words === undefined ? <Absent>Unknown</Absent> : <span title={words}>{words}</span>
  if (tags.length === 0) return place
  return (
    <TwoLines
      first={place}
      second={
        <span className={styles.tags} title={tags.join(', ')}>
          {tags.map((tag) => (
            <span key={tag}>{tag}</span>
          ))}
        </span>
      }
    />
  )
}

/** The current picture of one of its cameras, while the card is in view. */
function CardPicture({ camera: { gatewayId, name, state, problem } }: { camera: Camera }) {
  const load = useCallback((signal: AbortSignal) => loadCameraPicture({ gatewayId, name }, signal), [gatewayId, name])
  const off = state === 'online' ? undefined : (problem ?? 'Camera offline')
  return <LivePicture load={load} alt={`Camera ${name}`} off={off} problem={problem ?? undefined} />
}
