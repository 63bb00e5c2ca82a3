/** Sites with automatic updates of their own: off, or at other hours than the settings say. */
import type { SiteUpdates } from '@hedgerow/contract'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { useGateways } from '#api/gateways.ts'
import { changesOf } from '#parts/follow.ts'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { ActionsCell, Cell, DataTable, Row, RowText, type Column } from '@hedgerow/ui/data-table.tsx'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { useSaveSite } from './queries.ts'
import styles from './page.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Site' },
  { name: 'Automatic Updates', width: '25%' },
  { name: 'Hours', width: '25%' },
  { name: 'Actions', width: '130px' },
]

const AUTOMATIC = [
  ['hub', 'As in the settings'],
  ['on', 'On'],
  ['off', 'Off'],
] as const
const HOURS = [
  ['hub', 'As in the settings'],
  ['always', 'At any time'],
  ['own', 'At these hours'],
] as const

type Values = { site: string; automatic: (typeof AUTOMATIC)[number][0]; when: (typeof HOURS)[number][0]; hours: string }

const valuesOf = ({ site, automatic, hours }: SiteUpdates): Values => ({
  site,
  automatic: automatic === null ? 'hub' : automatic ? 'on' : 'off',
  when: hours === null ? 'hub' : hours === '' ? 'always' : 'own',
  hours: hours ?? '',
})

const siteOf = ({ site, automatic, when, hours }: Values): SiteUpdates => ({
  site,
  automatic: automatic === 'hub' ? null : automatic === 'on',
  hours: when === 'hub' ? null : when === 'always' ? '' : hours,
})

const wordsOf = <Value extends string>(options: readonly (readonly [Value, string])[], value: Value) =>
  options.find(([option]) => option === value)?.[1]

/** `reason`: why this person may not change a site. */
export function Sites({ sites, reason }: { sites: readonly SiteUpdates[]; reason: string | undefined }) {
  const gateways = useGateways()
  const [edited, setEdited] = useState<SiteUpdates>()
  const locations = [...new Set(gateways.data?.map(({ location }) => location) ?? [])]
  const free = locations
    .filter((name) => name !== '' && !sites.some(({ site }) => site === name))
    .toSorted(byNaturalOrder)
  const isNew = edited !== undefined && !sites.includes(edited)
  return (
    <Panel
      title="Sites"
      actions={
        <ReasonedButton
          size="compact-sm"
          variant="default"
          reason={reason ?? (free[0] === undefined ? 'No other gateway has a location.' : undefined)}
          onClick={() => setEdited({ site: free[0]!, automatic: null, hours: null })}
        >
          Add a Site
        </ReasonedButton>
      }
    >
      {sites.length === 0 ? (
        <PanelEmpty title="All sites follow the settings">
          A site, which is the location of gateways, can have its own hours of automatic updates, or none at all.
        </PanelEmpty>
      ) : (
        <DataTable label="Automatic updates of sites" columns={COLUMNS} rowCount={sites.length} narrow="lines">
          {sites.map((site, index) => {
            const { automatic, when, hours } = valuesOf(site)
            return (
              <Row key={site.site} index={index} restOf={site.site}>
                <Cell label="Site" place="title">
                  <RowText>{site.site}</RowText>
                </Cell>
                <Cell label="Automatic Updates" place="line">
                  {wordsOf(AUTOMATIC, automatic)}
                </Cell>
                <Cell label="Hours" place="beside">
                  {when === 'own' ? hours : wordsOf(HOURS, when)}
                </Cell>
                <ActionsCell>
                  <ReasonedButton
                    size="compact-sm"
                    variant="default"
                    aria-label={`Change ${site.site}`}
                    reason={reason}
                    onClick={() => setEdited(site)}
                  >
                    Change
                  </ReasonedButton>
                </ActionsCell>
              </Row>
            )
          })}
        </DataTable>
      )}
      {edited && <SiteDialog site={edited} choices={isNew ? free : []} onGone={() => setEdited(undefined)} />}
    </Panel>
  )
}

/** `choices` are the sites to choose from; none when the site is known. */
function SiteDialog({ site, choices, onGone }: { site: SiteUpdates; choices: readonly string[]; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const save = useSaveSite()
  const form = useForm<Values>({
    initialValues: valuesOf(site),
    validate: {
      hours: (hours, { when }) => (when === 'own' && hours.trim() === '' ? 'Enter hours such as 02:00-05:00' : null),
    },
  })
  const submit = submitTo(form, async (values) => {
    const { site: name, ...wanted } = siteOf(values)
    const { site: _site, ...before } = site
    await save.mutateAsync({ site: name, ...changesOf(wanted, before) })
    if (isAsSent(form, values)) life.onClose()
  })
  const { site: name, automatic, when } = form.values
  return (
    <Dialog
      {...life}
      title={choices.length === 0 ? `Automatic updates of ${site.site}` : 'Automatic updates of a site'}
    >
      <form onSubmit={submit} noValidate className={styles.site}>
        {save.isError && <Notice tone="danger">{messageOf(save.error)}</Notice>}
        {choices.length > 0 && (
          <div className={styles.field}>
            <span aria-hidden="true">Site</span>
            <Choice
              label="Site"
              value={name}
              options={choices.map((choice) => [choice, choice] as const)}
              onChange={(value) => form.setFieldValue('site', value)}
            />
          </div>
        )}
        <div className={styles.field}>
          <span aria-hidden="true">Automatic updates</span>
          <Choice
            label="Automatic updates"
            value={automatic}
            options={AUTOMATIC}
            onChange={(value) => form.setFieldValue('automatic', value)}
          />
        </div>
        <div className={styles.field}>
          <span aria-hidden="true">Hours</span>
          <Choice label="Hours" value={when} options={HOURS} onChange={(value) => form.setFieldValue('when', value)} />
        </div>
        {when === 'own' && (
          <TextInput
            label="These hours"
            description="By the clock of the hub, for example 02:00-05:00."
            autoComplete="off"
            {...form.getInputProps('hours')}
          />
        )}
        <DialogActions onCancel={life.onClose}>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
