import type { PendingRegistration } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { Absent, ActionsCell, Cell, DataTable, Row, RowName, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { fitting, NO_ROOM } from './messages.ts'
import { useRoom } from './use-room.ts'
import styles from './page.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Device Name', width: '26%' },
  { name: 'Location', width: '16%' },
  { name: 'Source IP', width: '13%' },
  { name: 'Requested At', width: '12%' },
  { name: 'Version', width: '9%' },
  { name: 'Actions', width: '24%' },
]

type RegistrationTableProps = {
  registrations: readonly PendingRegistration[]
  selected: ReadonlySet<string>
  onSelect: (registrationId: string, selected: boolean) => void
  onOpen: (dialog: OpenDialog) => void
}

/** The queue, oldest first. A request that would replace a gateway's key is marked. */
export function RegistrationTable({ registrations, selected, onSelect, onOpen }: RegistrationTableProps) {
  const room = useRoom()
  const mayOpen = (verb: Verb, registration: PendingRegistration) =>
    verb !== 'approve' || fitting([registration], room).length > 0
  return (
    <DataTable label="Pending registrations" columns={COLUMNS} rowCount={registrations.length} narrow="lines">
      {registrations.map((registration, index) => (
        <Row
          key={registration.registrationId}
          index={index}
          restOf={registration.deviceName}
          aria-selected={selected.has(registration.registrationId)}
        >
          <Cell label="Device Name" place="title">
            <div className={styles.device}>
              <TickBox
                label={`Select ${registration.deviceName}`}
                checked={selected.has(registration.registrationId)}
                onChange={(checked) => onSelect(registration.registrationId, checked)}
              />
              <DeviceName registration={registration} />
            </div>
          </Cell>
          <Cell label="Location">
            {registration.deviceLocation === '' ? <Absent>N/A</Absent> : registration.deviceLocation}
          </Cell>
          <Cell label="Source IP" place="line">
            <Mono>{registration.sourceIp}</Mono>
          </Cell>
          <Cell label="Requested At" place="beside">
            <RelativeTime at={registration.requestedAt} />
          </Cell>
          <Cell label="Version">
            {registration.deviceVersion === '' ? <Absent>N/A</Absent> : registration.deviceVersion}
          </Cell>
          <ActionsCell>
            {(['details', 'approve', 'reject'] as const).map((verb) => (
              <Button
                key={verb}
                size="compact-sm"
                variant={verb === 'approve' ? 'filled' : verb === 'reject' ? 'default' : 'subtle'}
                {...(!mayOpen(verb, registration) && { disabled: true, title: NO_ROOM })}
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
type Verb = keyof typeof WORDS

function DeviceName({
  registration: { deviceName, keyChangeFor, trustedNetwork, invitation, waitsFor },
}: {
  registration: PendingRegistration
}) {
  const name = (
    <strong>
      <RowName>{deviceName}</RowName>
    </strong>
  )
  if (keyChangeFor === null && !trustedNetwork && invitation === null && waitsFor === null) return name
  return (
    <TwoLines
      first={name}
      kept={keyChangeFor !== null}
      second={
        <span className={styles.marks}>
          {keyChangeFor !== null && <Chip tone="warning">Key change for {keyChangeFor}</Chip>}
          {invitation !== null && <Chip tone="good">Invitation: {invitation}</Chip>}
          {trustedNetwork && <Chip tone="good">Trusted network</Chip>}
          {waitsFor !== null && <Chip tone="warning">{waitsFor.message}</Chip>}
        </span>
      }
    />
  )
}
