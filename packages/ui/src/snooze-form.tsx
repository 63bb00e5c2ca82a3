import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { TickBox } from './tick-box.tsx'
import styles from './snooze-form.module.css'

const TIMES = [
  ['30m', '30 minutes'],
  ['2h', '2 hours'],
  ['morning', 'Until morning (7:00 at the gateway)'],
] as const

/** `until` is ISO 8601. */
type Time = { lasts: (typeof TIMES)[number][0] } | { until: string }
export type Snoozed = { what: string; isMaintenance: boolean; time: Time }

type SnoozeFormProps = {
  whats: readonly { value: string; label: string; mayMaintain: boolean }[]
  first: string
  onSnooze: (snoozed: Snoozed) => void
}

/** What to snooze, and for how long. */
export function SnoozeForm({ whats, first, onSnooze }: SnoozeFormProps) {
  const [what, setWhat] = useState(first)
  const [isTicked, setTicked] = useState(false)
  const [until, setUntil] = useState('')
  const mayMaintain = whats.some((one) => one.value === what && one.mayMaintain)
  const end = new Date(until).getTime()
  const snooze = (time: Time) => onSnooze({ what, isMaintenance: isTicked && mayMaintain, time })
  return (
    <div className={styles.form}>
      <p>Nothing fires, and nothing that is seen is an alert. Recording goes on. It ends by itself.</p>
      <NativeSelect
        label="What"
        value={what}
        data={whats.map(({ value, label }) => ({ value, label }))}
        onChange={(event) => setWhat(event.currentTarget.value)}
      />
      {mayMaintain && (
        <TickBox checked={isTicked} onChange={setTicked}>
          Maintenance: outages are no alert either
        </TickBox>
      )}
      {TIMES.map(([lasts, words]) => (
        <Button key={lasts} variant="default" onClick={() => snooze({ lasts })}>
          {words}
        </Button>
      ))}
      <TextInput
        type="datetime-local"
        label="Until"
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={Number.isNaN(end)}
        onClick={() => snooze({ until: new Date(end).toISOString() })}
      >
        Until then
      </Button>
    </div>
  )
}
