import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { ActionsCell, Cell, DataTable, Row, RowName, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { PanelError } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { ASK_AGAIN, REJECTED_PANEL } from './messages.ts'
import { useRejected } from './queries.ts'

const COLUMNS: readonly Column[] = [
  { name: 'Device Name', width: '28%' },
  { name: 'Reason' },
  { name: 'Source IP', width: '13%' },
  { name: 'Rejected', width: '12%' },
  { name: 'Actions', width: '13%' },
]

/** The rejected devices, for undoing a mistake. Hidden when there are none. */
export function Rejected({ onOpen }: { onOpen: (dialog: OpenDialog) => void }) {
  const rejected = useRejected(true)
  if (rejected.data === undefined) {
    if (!rejected.isError) return null
    return (
      <Panel title={REJECTED_PANEL}>
        <PanelError
          message={messageOf(rejected.error)}
          retrying={rejected.isFetching}
          onRetry={() => void rejected.refetch()}
        />
      </Panel>
    )
  }
  if (rejected.data.length === 0) return null
  return (
    <Panel title={REJECTED_PANEL}>
      <DataTable label="Rejected registrations" columns={COLUMNS} rowCount={rejected.data.length} narrow="lines">
        {rejected.data.map((one, index) => (
          <Row key={one.registrationId} index={index} restOf={one.deviceName}>
            <Cell label="Device Name" place="title">
              <TwoLines
                first={
                  <strong>
                    <RowName>{one.deviceName}</RowName>
                  </strong>
                }
                second={<Mono>{one.fingerprint}</Mono>}
              />
            </Cell>
            <Cell label="Reason">{one.reason}</Cell>
            <Cell label="Source IP" place="line">
              <Mono>{one.sourceIp}</Mono>
            </Cell>
            <Cell label="Rejected">
              <TwoLines first={<RelativeTime at={one.rejectedAt} />} second={`by ${one.rejectedBy}`} />
            </Cell>
            <ActionsCell>
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Let ${one.deviceName} ask again`}
                onClick={() => onOpen({ verb: 'lift', rejected: one })}
              >
                {ASK_AGAIN}
              </Button>
            </ActionsCell>
          </Row>
        ))}
      </DataTable>
    </Panel>
  )
}
