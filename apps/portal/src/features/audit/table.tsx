import type { AuditEntry } from '@hedgerow/contract'
import { Link } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { useUsers } from '#api/users.ts'
import { Absent, Cell, DataTable, Row, RowText, type Column } from '@hedgerow/ui/data-table.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { groupRepeated } from './repeated.ts'
import { sentenceOf, type Named } from './sentences.ts'
import styles from './audit.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'When', width: '17%' },
  { name: 'What Happened' },
  { name: 'From', width: '16%' },
  { name: 'Result', width: '12%' },
]

const RESULT = {
  ok: { shape: 'dot', word: 'Done' },
  refused: { shape: 'diamond', word: 'Refused' },
} as const

/** Newest first, with times to the second. The code of the action is on hover. */
export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const names = { gateways: useGateways().data ?? [], users: useUsers(true).data ?? [] }
  const groups = groupRepeated(entries)
  return (
    <DataTable label="Audit log" columns={COLUMNS} rowCount={groups.length} narrow="lines">
      {groups.map(({ entry, count, since }, index) => {
        const { actor, words, target, ending } = sentenceOf(entry, names)
        return (
          <Row key={entry.id} index={index} restOf={`this entry of ${actor.text}`}>
            <Cell label="When" place="line">
              <ExactTime at={entry.at} />
              {count > 1 && <span className={styles.times}>, {count} times</span>}
            </Cell>
            <Cell label="What Happened" place="title">
              <RowText>
                <span title={entry.action}>
                  <strong>
                    <Name {...actor} />
                  </strong>{' '}
                  {words}
                  {target !== undefined && (
                    <>
                      {' '}
                      <Name {...target} />
                    </>
                  )}
                  {ending}
                </span>
              </RowText>
              {count > 1 && (
                <div className={styles.since}>
                  repeated {count} times since <ExactTime at={since} />
                </div>
              )}
            </Cell>
            <Cell label="From">
              {entry.sourceIp === null ? <Absent>the hub itself</Absent> : <Mono>{entry.sourceIp}</Mono>}
            </Cell>
            <Cell label="Result" place="beside">
              <StatusMark {...RESULT[entry.result]} />
            </Cell>
          </Row>
        )
      })}
    </DataTable>
  )
}

const Name = ({ text, path }: Named) => (path === undefined ? <>{text}</> : <Link to={path}>{text}</Link>)
