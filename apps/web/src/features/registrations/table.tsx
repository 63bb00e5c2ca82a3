import type { PendingRegistration } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { Chip } from '#ui/chip.tsx'
import { Absent, ActionsCell, Cell, DataTable, Row, TwoLines, type Column } from '#ui/data-table.tsx'
import { Mono } from '#ui/mono.tsx'
import { RelativeTime } from '#ui/relative-time.tsx'
import type { OpenDialog } from './page.tsx'

const COLUMNS: readonly Column[] = [
  { name: 'Device Name', width: '23%' },
  { name: 'Location', width: '17%' },
  { name: 'Source IP', width: '14%' },
  { name: 'Requested At', width: '12%' },
  { name: 'Version', width: '10%' },
  { name: 'Actions', width: '24%' },
]

type RegistrationTableProps = { registrations: readonly PendingRegistration[]; onOpen: (dialog: OpenDialog) => void }

/** The queue, oldest first. A request that would replace a gateway's key is marked as one. */
export function RegistrationTable({ registrations, onOpen }: RegistrationTableProps) {
  return (
    <DataTable label="Pending registrations" columns={COLUMNS} rowCount={registrations.length}>
      {registrations.map((registration, index) => (
        <Row key={registration.registrationId} index={index}>
          <Cell label="Device Name" place="title">
            {registration.keyChangeFor === null ? (
              <strong>{registration.deviceName}</strong>
            ) : (
              <TwoLines
                first={<strong>{registration.deviceName}</strong>}
                second={<Chip tone="warning">Key change for {registration.keyChangeFor}</Chip>}
              />
            )}
          </Cell>
          <Cell label="Location">
            {registration.deviceLocation === '' ? <Absent>N/A</Absent> : registration.deviceLocation}
          </Cell>
          <Cell label="Source IP">
            <Mono>{registration.sourceIp}</Mono>
          </Cell>
          <Cell label="Requested At">
            <RelativeTime at={registration.requestedAt} />
          </Cell>
          <Cell label="Version">
            {registration.deviceVersion === '' ? <Absent>N/A</Absent> : registration.deviceVersion}
          </Cell>
          <ActionsCell>
            {(['details', 'reject', 'approve'] as const).map((verb) => (
              <Button
                key={verb}
                size="compact-sm"
                variant={verb === 'approve' ? 'filled' : verb === 'reject' ? 'default' : 'subtle'}
                aria-label={`${WORDS[verb]} ${registration.deviceName}`}
                onClick={() => onOpen({ verb, registration })}
              >
                {WORDS[verb]}
              </Button>
            ))}
          </ActionsCell>
        </Row>
      ))}
    </DataTable>
  )
}

const WORDS = { details: 'Details', approve: 'Approve', reject: 'Reject' } as const
