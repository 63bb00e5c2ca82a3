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
  {
    key: 'quietHours',
    label: 'Quiet hours',
    description: 'Nothing and nobody fires it then: 22:00-06:00, or Mon-Fri 12:00-13:00; Sat,Sun.',
  },
  {
    key: 'armed',
    label: 'Armed hours',
    description:
      'Rules and programs fire it only then: sunset-sunrise, or Mon-Fri 18:00-06:00; Sat,Sun. Empty: always. People ' +
      'may at other hours too.',
  },
  { key: 'seconds', label: 'Seconds of a firing' },
  { key: 'maximumSeconds', label: 'Longest firing, seconds', description: 'Empty: no longer than the usual one.' },
  { key: 'coolDownSeconds', label: 'Seconds to wait after a firing' },
  { key: 'secondsAnHour', label: 'Seconds an hour, at most', description: 'Empty: 300, or one longest firing.' },
  { key: 'secondsADay', label: 'Seconds a day, at most' },
] as const
const HOURS: ReadonlySet<string> = new Set(['quietHours', 'armed'])

const PEOPLE = [
  { value: 'all', label: 'A person on any camera' },
  { value: 'some', label: 'A person on chosen cameras' },
  { value: 'none', label: 'Nothing' },
]

/** The limits of a deterrent, with the sentence that they mean. */
export function LimitsFields({ limits, cameras, errorOf, onChange }: LimitsFieldsProps) {
  const known = [...new Set([...cameras, ...limits.cameras])]
  return (
    <>
      {FIELDS.map(({ key, ...words }) => (
        <TextInput
          key={key}
          {...words}
          inputMode={HOURS.has(key) ? 'text' : 'numeric'}
          spellCheck={false}
          value={limits[key]}
          error={errorOf(key)}
          maxLength={HOURS.has(key) ? 500 : 10}
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
