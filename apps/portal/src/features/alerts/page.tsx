/** Alert rules: which incidents the hub sends to people, and over which channels. */
import type { AlertRule } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { isForbidden, messageOf } from '#api/client.ts'
import { ADMIN_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { useSites } from '#api/sites.ts'
import { useAskedAction } from '#parts/asked-action.ts'
import { ActionsCell, Cell, DataTable, Row, RowName, type Column } from '@hedgerow/ui/data-table.tsx'
import { PlusIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { HelpLink } from '#parts/help-link.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { Reasoned, ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import { Channels } from './channels.tsx'
import { Deliveries } from './deliveries.tsx'
import { inWords } from './fields.ts'
import { useAlertRules, useDeleteRule, useEditRule } from './queries.ts'
import { RecentAlerts } from './recent.tsx'

const RuleDialog = lazy(async () => ({ default: (await import('./rule-dialog.tsx')).RuleDialog }))

const COLUMNS: readonly Column[] = [
  { name: 'Name', width: '20%' },
  { name: 'State', width: '9%' },
  { name: 'Events' },
  { name: 'Channels', width: '15%' },
  { name: 'Last Message', width: '15%' },
  { name: 'Actions', width: '220px' },
]

export function AlertsPage() {
  const { role } = useUser()
  const maySee = mayManageFleet(role)
  const reason = role === 'admin' ? undefined : ADMIN_NEEDED
  const rules = useAlertRules(maySee)
  const [edited, setEdited] = useState<AlertRule | 'new'>()
  useAskedAction(['new'], (verb) => reason === undefined && setEdited(verb))
  const forbidden = !maySee || isForbidden(rules.error)
  return (
    <>
      <PageHead
        title="Alert Rules"
        lead="Which incidents are sent to a phone or by mail. Every message has the picture and opens the incident."
        actions={
          <>
            <HelpLink to="alerts" />
            <Button component={Link} to="/threats" variant="default">
              Back to Threats
            </Button>
            <ReasonedButton leftSection={<PlusIcon />} reason={reason} onClick={() => setEdited('new')}>
              New Rule
            </ReasonedButton>
          </>
        }
      />
      <Panel title="Rules">
        {forbidden ? (
          <PanelForbidden>Managers and administrators see alert rules.</PanelForbidden>
        ) : rules.data === undefined ? (
          <PanelWaiting query={rules} rows={3} label="Loading alert rules" />
        ) : rules.data.length === 0 ? (
          <PanelEmpty title="No alert rules">Nobody gets a message about incidents.</PanelEmpty>
        ) : (
          <>
            {!rules.data.some(({ enabled, what }) => enabled && what.includes('detection')) && (
              <Notice tone="warning">No active rule covers what cameras see: nobody gets a message about it.</Notice>
            )}
            <Rules rules={rules.data} reason={reason} onEdit={setEdited} />
          </>
        )}
      </Panel>
      {!forbidden && <RecentAlerts />}
      {!forbidden && <Channels reason={reason} />}
      {!forbidden && <Deliveries maySendAgain={reason} />}
      <Suspense>
        {edited !== undefined && (
          <RuleDialog rule={edited === 'new' ? undefined : edited} onGone={() => setEdited(undefined)} />
        )}
      </Suspense>
    </>
  )
}

function Rules({
  rules,
  reason,
  onEdit,
}: {
  rules: readonly AlertRule[]
  reason: string | undefined
  onEdit: (rule: AlertRule) => void
}) {
  const save = useEditRule()
  const remove = useDeleteRule()
  const { data: sites = [] } = useSites()
  const nameOf = (siteId: string) => sites.find(({ id }) => id === siteId)?.name ?? siteId
  const failure = save.error ?? remove.error
  const turn = ({ id, enabled }: AlertRule) => save.mutate({ id, change: { enabled: !enabled } })
  return (
    <>
      {failure && <Notice tone="warning">{messageOf(failure)}</Notice>}
      <DataTable label="Alert rules" columns={COLUMNS} rowCount={rules.length} narrow="lines">
        {rules.map((rule, index) => (
          <Row key={rule.id} index={index} restOf={rule.name}>
            <Cell label="Name" place="title">
              <strong>
                <RowName>{rule.name}</RowName>
              </strong>
            </Cell>
            <Cell label="State" place="line">
              <StatusMark shape={rule.enabled ? 'dot' : 'ring'} word={rule.enabled ? 'On' : 'Off'} />
            </Cell>
            <Cell label="Events">{inWords(rule, nameOf)}</Cell>
            <Cell label="Channels">
              {rule.channels.length === 0
                ? 'All channels'
                : rule.channels.map((name) => CHANNEL_NAMES[name] ?? name).join(', ')}
            </Cell>
            <Cell label="Last Message" place="beside">
              {rule.last === null ? 'None yet' : <RelativeTime at={rule.last.at} />}
            </Cell>
            <ActionsCell>
              <Reasoned reason={reason}>
                {(refusal) => (
                  <>
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Delete ${rule.name}`}
                      onClick={() => remove.mutate(rule.id)}
                      {...refusal}
                    >
                      Delete
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`${rule.enabled ? 'Turn off' : 'Turn on'} ${rule.name}`}
                      onClick={() => turn(rule)}
                      {...refusal}
                    >
                      {rule.enabled ? 'Turn off' : 'Turn on'}
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Edit ${rule.name}`}
                      onClick={() => onEdit(rule)}
                      {...refusal}
                    >
                      Edit
                    </Button>
                  </>
                )}
              </Reasoned>
            </ActionsCell>
          </Row>
        ))}
      </DataTable>
    </>
  )
}
