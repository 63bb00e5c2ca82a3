/** How alerts reach this person: language, quiet hours, and the browsers that show push messages. */
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { LANGUAGES } from '#api/languages.ts'
import { follow } from '#parts/follow.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import type { AlertPreferences } from '@hedgerow/contract'
import { useAlertPreferences, useSaveAlertPreferences } from './alert-queries.ts'
import { Browsers } from './browsers.tsx'
import styles from './alerts.module.css'

const TIME_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

export function Alerts() {
  const preferences = useAlertPreferences()
  return (
    <Panel id="alerts" title="Alerts">
      {preferences.data !== undefined ? (
        <PreferencesForm saved={preferences.data} />
      ) : (
        <PanelWaiting query={preferences} rows={2} label="Loading how alerts reach you" />
      )}
      <Browsers />
    </Panel>
  )
}

type Values = { language: AlertPreferences['language']; from: string; to: string }

const valuesOf = ({ language, quietHours }: AlertPreferences): Values => ({
  language,
  from: quietHours?.from ?? '',
  to: quietHours?.to ?? '',
})

function PreferencesForm({ saved }: { saved: AlertPreferences }) {
  const save = useSaveAlertPreferences()
  const [basis, setBasis] = useState(saved)
  const [values, setValues] = useState(() => valuesOf(saved))
  if (basis !== saved) {
    setBasis(saved)
    setValues(follow(values, valuesOf(basis), valuesOf(saved)))
  }
  const { language, from, to } = values
  const set = (change: Partial<Values>) => setValues((now) => ({ ...now, ...change }))
  const isHalf = (from === '') !== (to === '')
  const submit = async () => {
    const quietHours = from === '' || to === '' ? null : { from, to }
    const preferences = { language, quietHours, timeZone: TIME_ZONE }
    const done = await save.mutateAsync({ preferences, seen: saved }).then(
      () => true,
      () => false,
    )
    if (done) void toast('How alerts reach you was saved.')
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isHalf) void submit()
      }}
    >
      {save.isError && <Notice tone="danger">{messageOf(save.error)}</Notice>}
      <div className={styles.fields}>
        <div className={styles.field}>
          <span aria-hidden="true">Language of alerts</span>
          <Choice
            label="Language of alerts"
            value={language}
            options={LANGUAGES}
            onChange={(chosen) => set({ language: chosen })}
          />
        </div>
        <TextInput
          type="time"
          label="Quiet from"
          value={from}
          error={isHalf && from === '' ? 'Enter a time, or clear the other' : undefined}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
        <TextInput
          type="time"
          label="Quiet to"
          value={to}
          error={isHalf && to === '' ? 'Enter a time, or clear the other' : undefined}
          onChange={(event) => set({ to: event.currentTarget.value })}
        />
        <Button type="submit" variant="default" loading={save.isPending}>
          Save Alerts
        </Button>
      </div>
      <p className={styles.hint}>
        Push messages of these hours come after them, unless their rule breaks through. Your time zone is {TIME_ZONE}.
      </p>
    </form>
  )
}
