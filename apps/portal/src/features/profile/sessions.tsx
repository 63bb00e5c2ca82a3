import type { Session } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { useSession } from '#api/session.tsx'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { ActionsCell, Cell, DataTable, Row, type Column } from '@hedgerow/ui/data-table.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime, TimeLeft } from '@hedgerow/ui/relative-time.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { browserName } from './browser-name.ts'
import { useEndSession, useSessions } from './queries.ts'
import styles from './sessions.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Where' },
  { name: 'Address', width: '22%' },
  { name: 'Signed In', width: '16%' },
  { name: 'Ends', width: '20%' },
  { name: 'Actions', width: '110px' },
]

/** The person's open sessions, newest first. Ending the current one signs out. */
export function Sessions() {
  const sessions = useSessions()
  const end = useEndSession()
  const { signOut } = useSession()
  const stop = async (session: Session) => {
    if (session.current) {
      await signOut()
      return
    }
    const done = await end.mutateAsync(session.id).then(
      () => true,
      () => false,
    )
    if (done) void toast('Session ended.')
  }
  if (sessions.data === undefined) return <PanelWaiting query={sessions} rows={3} label="Loading sessions" />
  return (
    <>
      {(end.isError || sessions.isError) && (
        <div className={styles.problem}>
          <Notice tone="danger">{messageOf(end.error ?? sessions.error)}</Notice>
        </div>
      )}
      <DataTable label="Signed-in sessions" columns={COLUMNS} rowCount={sessions.data.length} narrow="lines">
        {sessions.data.map((session, index) => (
          <Row key={session.id} index={index} restOf={browserName(session.userAgent)}>
            <Cell label="Where" place="title">
              <span className={styles.where} title={session.userAgent}>
                <strong>{browserName(session.userAgent)}</strong>
                {session.current && <Chip tone="good">this one</Chip>}
              </span>
            </Cell>
            <Cell label="Address" place="line">
              <Mono>{session.sourceIp}</Mono>
            </Cell>
            <Cell label="Signed In" place="beside">
              <RelativeTime at={session.createdAt} />
            </Cell>
            <Cell label="Ends">
              <TimeLeft until={session.expiresAt} />
            </Cell>
            <ActionsCell>
              <Button
                size="compact-sm"
                variant="default"
                loading={end.isPending && end.variables === session.id}
                aria-label={
                  session.current
                    ? 'End this session and log out'
                    : `End ${browserName(session.userAgent)} at ${session.sourceIp}`
                }
                onClick={() => void stop(session)}
              >
                End
              </Button>
            </ActionsCell>
          </Row>
        ))}
      </DataTable>
    </>
  )
}
