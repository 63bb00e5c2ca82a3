/** Sites with automatic updates of their own: off, or at other hours than the settings say. */
import type { Site, SiteUpdates, Versions } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { useSites } from '#api/sites.ts'
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

type Own = Versions['sites'][number]
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
export function Sites({ sites, reason }: { sites: readonly Own[]; reason: string | undefined }) {
  const all = useSites()
  const [edited, setEdited] = useState<Own>()
  const free = (all.data ?? []).filter(({ id }) => !sites.some(({ site }) => site === id))
  const isNew = edited !== undefined && !sites.includes(edited)
  return (
    <Panel
      title="Sites"
      actions={
        <ReasonedButton
          size="compact-sm"
          variant="default"
          reason={reason ?? (free[0] === undefined ? 'There is no other site. The screen Sites adds one.' : undefined)}
          onClick={() => setEdited({ site: free[0]!.id, name: free[0]!.name, automatic: null, hours: null })}
        >
          Add a Site
        </ReasonedButton>
      }
    >
      {sites.length === 0 ? (
        <PanelEmpty title="All sites follow the settings">
          A site can have its own hours of automatic updates, or none at all.
        </PanelEmpty>
      ) : (
        <DataTable label="Automatic updates of sites" columns={COLUMNS} rowCount={sites.length} narrow="lines">
          {sites.map((site, index) => {
            const { automatic, when, hours } = valuesOf(site)
            return (
              <Row key={site.site} index={index} restOf={site.name}>
                <Cell label="Site" place="title">
                  <RowText>{site.name}</RowText>
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
                    aria-label={`Change ${site.name}`}
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
function SiteDialog({ site, choices, onGone }: { site: Own; choices: readonly Site[]; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const save = useSaveSite()
  const form = useForm<Values>({
    initialValues: valuesOf(site),
    validate: {
      hours: (hours, { when }) => (when === 'own' && hours.trim() === '' ? 'Enter hours such as 02:00-05:00' : null),
    },
  })
  const submit = submitTo(form, async (values) => {
    const { site: id, ...wanted } = siteOf(values)
    const { site: _site, name: _name, ...before } = site
    await save.mutateAsync({ site: id, ...changesOf(wanted, before) })
    if (isAsSent(form, values)) life.onClose()
  })
  const { site: chosen, automatic, when } = form.values
  return (
    <Dialog
      {...life}
      title={choices.length === 0 ? `Automatic updates of ${site.name}` : 'Automatic updates of a site'}
    >
      <form onSubmit={submit} noValidate className={styles.site}>
        {save.isError && <Notice tone="danger">{messageOf(save.error)}</Notice>}
        {choices.length > 0 && (
          <div className={styles.field}>
            <span aria-hidden="true">Site</span>
            <Choice
              label="Site"
              value={chosen}
              options={choices.map(({ id, name }) => [id, name] as const)}
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
