/** How alerts reach this person: language, quiet hours, and the browsers that show push messages. */
import { clockHoursIn, clockHoursText, type ClockHours } from '@hedgerow/contract/schedules'
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

type Values = { language: AlertPreferences['language']; quiet: string }

const valuesOf = ({ language, quietHours }: AlertPreferences): Values => ({
  language,
  quiet: clockHoursText(quietHours),
})

function PreferencesForm({ saved }: { saved: AlertPreferences }) {
  const save = useSaveAlertPreferences()
  const [basis, setBasis] = useState(saved)
  const [values, setValues] = useState(() => valuesOf(saved))
  if (basis !== saved) {
    setBasis(saved)
    setValues(follow(values, valuesOf(basis), valuesOf(saved)))
  }
  const { language, quiet } = values
  const set = (change: Partial<Values>) => setValues((now) => ({ ...now, ...change }))
  const typed = clockHoursIn(quiet)
  const submit = async (hours: ClockHours[]) => {
    const quietHours = hours.length === 0 ? null : hours
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
        if ('hours' in typed) void submit(typed.hours)
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
          label="Quiet hours"
          placeholder="22:00-06:00"
          value={quiet}
          maxLength={500}
          error={'problem' in typed ? typed.problem : undefined}
          onChange={(event) => set({ quiet: event.currentTarget.value })}
        />
        <Button type="submit" variant="default" loading={save.isPending}>
          Save Alerts
        </Button>
      </div>
      <p className={styles.hint}>
        Push messages of these hours come after them, unless their rule breaks through. By day: Mon-Fri 22:00-06:00;
        Sat,Sun 23:00-09:00. Your time zone is {TIME_ZONE}.
      </p>
    </form>
  )
}
