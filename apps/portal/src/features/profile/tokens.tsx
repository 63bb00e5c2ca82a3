import type { ApiToken } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Cell, DataTable, ActionsCell, Row, type Column } from '@hedgerow/ui/data-table.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime, TimeLeft } from '@hedgerow/ui/relative-time.tsx'
import { useTokens } from './queries.ts'
import { mayOf } from './token-words.ts'

const Dialogs = lazy(() => import('./token-dialogs.tsx'))

const COLUMNS: readonly Column[] = [
  { name: 'Name' },
  { name: 'May', width: '24%' },
  { name: 'Last Used', width: '16%' },
  { name: 'Ends', width: '16%' },
  { name: 'Actions', width: '110px' },
]

/** The person's tokens, newest first. */
export function Tokens({ hasPassword }: { hasPassword: boolean }) {
  const tokens = useTokens()
  const [dialog, setDialog] = useState<ApiToken | 'make' | null>(null)
  return (
    <Panel
      id="tokens"
      title="Tokens for programs"
      actions={
        <ReasonedButton
          size="compact-sm"
          variant="default"
          reason={hasPassword ? undefined : 'It takes your password, and you have none.'}
          onClick={() => setDialog('make')}
        >
          Make a Token
        </ReasonedButton>
      }
    >
      {tokens.data === undefined ? (
        <PanelWaiting query={tokens} rows={2} label="Loading tokens" />
      ) : tokens.data.length === 0 ? (
        <PanelEmpty title="No tokens">A script or a service makes the hub’s calls with a token, as you.</PanelEmpty>
      ) : (
        <DataTable label="Tokens for programs" columns={COLUMNS} rowCount={tokens.data.length} narrow="lines">
          {tokens.data.map((token, index) => (
            <Row key={token.id} index={index} restOf={token.name}>
              <Cell label="Name" place="title">
                <strong>{token.name}</strong>
              </Cell>
              <Cell label="May" place="line">
                {mayOf(token)}
              </Cell>
              <Cell label="Last Used" place="beside">
                <RelativeTime at={token.lastUsedAt} />
              </Cell>
              <Cell label="Ends">
                <TimeLeft until={token.expiresAt} />
              </Cell>
              <ActionsCell>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Revoke ${token.name}`}
                  onClick={() => setDialog(token)}
                >
                  Revoke
                </Button>
              </ActionsCell>
            </Row>
          ))}
        </DataTable>
      )}
      <Suspense>{dialog !== null && <Dialogs about={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </Panel>
  )
}
