import { NativeSelect, TextInput } from '@mantine/core'
import { limitsInWords, type Limits } from './deterrent-draft.ts'
import styles from './form.module.css'
import { TickList } from './tick-list.tsx'

type LimitsFieldsProps = {
  limits: Limits
  /** The names of all cameras that may watch it. */
  cameras: readonly string[]
  errorOf: (key: string) => string | undefined
  onChange: (limits: Limits) => void
}

const FIELDS = [
  ['seconds', 'Seconds of a firing'],
  ['coolDownSeconds', 'Seconds to wait after a firing'],
  ['secondsADay', 'Seconds a day, at most'],
] as const

const PEOPLE = [
  { value: 'all', label: 'A person on any camera' },
  { value: 'some', label: 'A person on chosen cameras' },
  { value: 'none', label: 'Nothing' },
]

/** The limits of a deterrent that most people change, with the sentence that they mean. */
export function LimitsFields({ limits, cameras, errorOf, onChange }: LimitsFieldsProps) {
  const known = [...new Set([...cameras, ...limits.cameras])]
  return (
    <>
      {FIELDS.map(([key, label]) => (
        <TextInput
          key={key}
          label={label}
          inputMode="numeric"
          value={limits[key]}
          error={errorOf(key)}
          maxLength={10}
          onChange={(event) => onChange({ ...limits, [key]: event.currentTarget.value })}
        />
      ))}
      <NativeSelect
        label="What blocks it"
        data={PEOPLE}
        value={limits.people}
        error={limits.people === 'some' ? undefined : errorOf('watchedBy')}
        onChange={(event) => onChange({ ...limits, people: event.currentTarget.value as Limits['people'] })}
      />
      {limits.people === 'some' && (
        <TickList
          legend="Cameras that see where it acts"
          options={known.map((name) => [name, name])}
          ticked={limits.cameras}
          error={errorOf('watchedBy')}
          onChange={(chosen) => onChange({ ...limits, cameras: chosen })}
        />
      )}
      <output className={styles.meaning}>{limitsInWords(limits)}</output>
    </>
  )
}
