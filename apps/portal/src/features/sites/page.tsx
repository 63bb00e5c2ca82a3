/** Sites: places with gateways. Managers add and change them; people see those of their own gateways. */
import type { Site } from '@hedgerow/contract'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { useDraft } from '#api/drafts.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { useSites } from '#api/sites.ts'
import { useAskedAction } from '#parts/asked-action.ts'
import { Absent, ActionsCell, Cell, DataTable, Row, RowName, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { PlusIcon } from '@hedgerow/ui/icons.tsx'
import { useNow } from '@hedgerow/ui/now.ts'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { counted, placeInWords, timeThere } from './words.ts'
import { Plot } from './plot.tsx'
import styles from './sites.module.css'

const Dialogs = lazy(() => import('./dialogs.tsx'))

const COLUMNS: readonly Column[] = [
  { name: 'Site' },
  { name: 'Gateways', width: '14%' },
  { name: 'Place', width: '22%' },
  { name: 'Time There', width: '22%' },
  { name: 'Actions', width: '190px' },
]

export function SitesPage() {
  const reason = mayManageFleet(useUser().role) ? undefined : MANAGER_NEEDED
  const sites = useSites()
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  useDraft('sites', dialog ?? undefined, setDialog)
  useAskedAction(['add'], (verb) => reason === undefined && setDialog({ verb }))
  return (
    <>
      <PageHead
        title="Sites"
        lead="A site is a place with gateways. Alert rules, filters and automatic updates can name it."
        actions={
          <ReasonedButton leftSection={<PlusIcon />} reason={reason} onClick={() => setDialog({ verb: 'add' })}>
            Add Site
          </ReasonedButton>
        }
      />
      <Panel title="Sites">
        {sites.data === undefined ? (
          <PanelWaiting query={sites} rows={5} label="Loading sites" />
        ) : sites.data.length === 0 ? (
          <PanelEmpty title="No sites yet">
            {reason === undefined
              ? 'A new site takes the gateways whose location is its name. Select others in the list of gateways.'
              : 'Sites of your gateways appear here. Managers add them.'}
          </PanelEmpty>
        ) : (
          <DataTable label="Sites" columns={COLUMNS} rowCount={sites.data.length} narrow="lines">
            {sites.data.map((site, index) => (
              <SiteRow key={site.id} site={site} index={index} reason={reason} onOpen={setDialog} />
            ))}
          </DataTable>
        )}
      </Panel>
      {sites.data?.some(({ latitude, longitude }) => latitude !== null && longitude !== null) && (
        <Panel title="Where they are">
          <Plot sites={sites.data} />
        </Panel>
      )}
      <Suspense>{dialog !== null && <Dialogs dialog={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </>
  )
}

type SiteRowProps = {
  site: Site
  index: number
  reason: string | undefined
  onOpen: (dialog: OpenDialog) => void
}

function SiteRow({ site, index, reason, onOpen }: SiteRowProps) {
  const gateways = counted(site.gateways, 'gateway')
  const now = useNow()
  return (
    <Row index={index} restOf={site.name}>
      <Cell label="Site" place="title">
        <TwoLines
          first={
            <strong>
              <RowName>{site.name}</RowName>
            </strong>
          }
          second={site.notes === '' ? undefined : <span title={site.notes}>{site.notes}</span>}
        />
      </Cell>
      <Cell label="Gateways" place="line">
        {site.gateways === 0 ? (
          <Absent>none</Absent>
        ) : (
          <Link to={`/gateways?site=${site.id}`} aria-label={`${gateways} of ${site.name}`}>
            {gateways}
          </Link>
        )}
      </Cell>
      <Cell label="Place">{placeInWords(site) ?? <Absent>not set</Absent>}</Cell>
      <Cell label="Time There" place="beside">
        {site.timeZone === null ? <Absent>each gateway’s own</Absent> : timeThere(site.timeZone, now)}
      </Cell>
      <ActionsCell>
        <span className={styles.actions}>
          <ReasonedButton
            size="compact-sm"
            variant="default"
            aria-label={`Edit ${site.name}`}
            reason={reason}
            onClick={() => onOpen({ verb: 'edit', site })}
          >
            Edit
          </ReasonedButton>
          <ReasonedButton
            size="compact-sm"
            variant="default"
            aria-label={`Delete ${site.name}`}
            reason={reason}
            onClick={() => onOpen({ verb: 'delete', site })}
          >
            Delete
          </ReasonedButton>
        </span>
      </ActionsCell>
    </Row>
  )
}
