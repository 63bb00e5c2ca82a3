/** The latest alerts, and who acknowledged them. */
import type { Alert } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { ActionsCell, Cell, DataTable, Row, RowText, type Column } from '@hedgerow/ui/data-table.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { acknowledgedInWords } from '#parts/acknowledged.ts'
import { Thumbnail } from '#parts/thumbnail.tsx'
import { useAcknowledge, useAlerts } from './queries.ts'
import styles from './alerts.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Alert' },
  { name: 'Rule', width: '18%' },
  { name: 'When', width: '12%' },
  { name: 'State', width: '26%' },
  { name: 'Actions', width: '140px' },
]

export function RecentAlerts() {
  const alerts = useAlerts()
  const acknowledge = useAcknowledge()
  return (
    <Panel title="Alerts">
      {acknowledge.isError && <Notice tone="warning">{messageOf(acknowledge.error)}</Notice>}
      {alerts.data === undefined ? (
        <PanelWaiting query={alerts} rows={3} label="Loading alerts" />
      ) : alerts.data.length === 0 ? (
        <PanelEmpty title="No alerts yet">Alerts of your rules are listed here.</PanelEmpty>
      ) : (
        <DataTable label="Alerts" columns={COLUMNS} rowCount={alerts.data.length} narrow="lines">
          {alerts.data.map((alert, index) => (
            <Row key={alert.id} index={index} to={alert.path} restOf={alert.title}>
              <Cell label="Alert" place="title">
                <span className={styles.pictured}>
                  {alert.picture !== null && <Thumbnail {...alert.picture} />}
                  <RowText>
                    <Link to={alert.path}>{alert.title}</Link>
                  </RowText>
                </span>
              </Cell>
              <Cell label="Rule">{alert.ruleName}</Cell>
              <Cell label="When" place="beside">
                <RelativeTime at={alert.at} />
              </Cell>
              <Cell label="State" place="line">
                <State alert={alert} />
              </Cell>
              <ActionsCell>
                {alert.acknowledged === null && alert.clearedAt === null && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Acknowledge ${alert.title}`}
                    loading={acknowledge.isPending && acknowledge.variables === alert.id}
                    onClick={() => acknowledge.mutate(alert.id)}
                  >
                    Acknowledge
                  </Button>
                )}
              </ActionsCell>
            </Row>
          ))}
        </DataTable>
      )}
    </Panel>
  )
}

function State({ alert: { acknowledged, step, nextStepAt, clearedAt } }: { alert: Alert }) {
  if (acknowledged !== null)
    return <StatusMark shape="dot" word="Acknowledged" reason={acknowledgedInWords(acknowledged)} />
  if (clearedAt !== null)
    return <StatusMark shape="dot" word="Resolved" reason={new Date(clearedAt).toLocaleString()} />
  const next = nextStepAt === null ? '' : `next step at ${new Date(nextStepAt).toLocaleTimeString()}`
  const sent = step === 0 ? '' : `step ${step} was sent`
  const reason = [sent, next].filter((part) => part !== '').join(', ')
  return <StatusMark shape="ring" word="Open" {...(reason !== '' && { reason })} />
}
