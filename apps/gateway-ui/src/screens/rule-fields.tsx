/** The two halves of a rule's form: when it fires, and what. */
import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import styles from '../parts/form.module.css'
import type { RuleDraft } from '../parts/rule-draft.ts'
import { WEEK_DAYS } from '@hedgerow/contract/schedules'
import { TickList } from '../parts/tick-list.tsx'
import type { Settings } from '../settings.ts'

type FieldsProps = {
  draft: RuleDraft
  /** The rule in the file. What it names stays offered. */
  own: RuleDraft
  set: (part: Partial<RuleDraft>) => void
  errorOf: (key: string) => string | undefined
}

const WHEN = [
  { value: 'always', label: 'Always' },
  { value: 'night', label: 'At night, from sunset to sunrise' },
  { value: 'hours', label: 'Between two times' },
  { value: 'other', label: 'Other hours' },
]
const WHICH = [
  { value: 'all', label: 'All of them' },
  { value: 'one', label: 'One of them, by chance' },
]

type WhenProps = FieldsProps & {
  names: Settings['names']
  /** What the hours need. */
  children: ReactNode
}

export function WhenFields({ draft, own, set, errorOf, names, children }: WhenProps) {
  const zones = names.cameras
    .filter(({ name }) => draft.cameras.length === 0 || draft.cameras.includes(name))
    .flatMap((camera) => camera.zones)

  return (
    <>
      <TickList
        legend="When it sees"
        options={offered(['animal', ...names.labels], own.labels, draft.labels).map((label) => [
          label,
          label === 'animal' ? 'any animal' : label,
        ])}
        ticked={draft.labels}
        error={errorOf('labels')}
        onChange={(labels) => set({ labels })}
      />
      <AnotherLabel onAdd={(label) => set({ labels: [...new Set([...draft.labels, label])] })} />
      {errorOf('labels')?.startsWith('No detector') && (
        <p className={styles.quiet}>
          The labels come from the{' '}
          <Link to="/configuration" target="_blank">
            model of the detector
          </Link>
          .
        </p>
      )}
      <TickList
        legend="On the cameras"
        hint="None ticked: all cameras."
        options={pairs(
          offered(
            names.cameras.map(({ name }) => name),
            own.cameras,
            draft.cameras,
          ),
        )}
        ticked={draft.cameras}
        error={errorOf('cameras')}
        onChange={(cameras) => set({ cameras })}
      />
      <TickList
        legend="In the zones"
        hint="None ticked: the whole picture."
        options={pairs(offered(zones, own.zones, draft.zones))}
        ticked={draft.zones}
        error={errorOf('zones')}
        onChange={(ticked) => set({ zones: ticked })}
      />
      <div className={styles.row}>
        <NativeSelect
          label="At these times"
          data={WHEN}
          value={draft.when}
          error={draft.when === 'other' ? undefined : errorOf('hours')}
          onChange={(event) => set({ when: event.currentTarget.value as RuleDraft['when'] })}
        />
        {draft.when === 'hours' && (
          <>
            <TextInput
              type="time"
              label="From"
              required
              value={draft.from}
              onChange={(event) => set({ from: event.currentTarget.value })}
            />
            <TextInput
              type="time"
              label="To"
              required
              value={draft.to}
              onChange={(event) => set({ to: event.currentTarget.value })}
            />
          </>
        )}
        {draft.when === 'other' && (
          <TextInput
            label="Hours"
            description="Such as sunset+30m-23:30 or Mon-Fri 18:00-06:00; Sat,Sun"
            value={draft.other}
            maxLength={500}
            error={errorOf('hours')}
            onChange={(event) => set({ other: event.currentTarget.value })}
          />
        )}
      </div>
      {children}
      <TickList
        legend="On these days"
        options={WEEK_DAYS.map((day) => [day, day.slice(0, 1).toUpperCase() + day.slice(1, 3)])}
        ticked={draft.days}
        error={errorOf('days')}
        onChange={(days) => set({ days })}
      />
      <NumberInput
        hideControls
        label="Lowest score, %"
        description="Empty: any score."
        value={draft.score}
        min={0}
        max={100}
        decimalScale={2}
        error={errorOf('minimumScore')}
        onChange={(score) => set({ score: numberOf(score) })}
      />
      <TickBox checked={draft.isConfirmed} onChange={(isConfirmed) => set({ isConfirmed })}>
        Only what the second look confirms
      </TickBox>
    </>
  )
}

function AnotherLabel({ onAdd }: { onAdd: (label: string) => void }) {
  const [label, setLabel] = useState('')

  function add(): void {
    if (label.trim() !== '') onAdd(label.trim())
    setLabel('')
  }

  return (
    <div className={styles.row}>
      <TextInput
        label="Another label"
        value={label}
        maxLength={100}
        onChange={(event) => setLabel(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <Button variant="default" disabled={label.trim() === ''} onClick={add}>
        Add label
      </Button>
    </div>
  )
}

type Place = { latitude: number | ''; longitude: number | '' }
export const NO_PLACE: Place = { latitude: '', longitude: '' }
const DEGREES = [
  { key: 'latitude', label: 'Latitude, degrees north', most: 90 },
  { key: 'longitude', label: 'Longitude, degrees east', most: 180 },
] as const

type PlaceProps = {
  place: Place
  errorOf: (key: string) => string | undefined
  onChange: (place: Place) => void
}

/** The place of the device, which is saved with the rule. */
export function PlaceFields({ place, errorOf, onChange }: PlaceProps) {
  return (
    <fieldset className={styles.group}>
      <legend>Place of this gateway</legend>
      <p className={styles.quiet}>Sunset and sunrise need it. It is saved with the rule.</p>
      <div className={styles.row}>
        {DEGREES.map(({ key, label, most }) => (
          <NumberInput
            key={key}
            hideControls
            required
            label={label}
            value={place[key]}
            min={-most}
            max={most}
            error={errorOf(key)}
            onChange={(value) => onChange({ ...place, [key]: numberOf(value) })}
          />
        ))}
      </div>
    </fieldset>
  )
}

export function ThenFields({ draft, own, set, errorOf, deterrents }: FieldsProps & { deterrents: readonly string[] }) {
  return (
    <>
      <TickList
        legend="Then it fires"
        options={pairs(offered(deterrents, own.fire, draft.fire))}
        ticked={draft.fire}
        error={errorOf('fire')}
        onChange={(fire) => set({ fire })}
      />
      {deterrents.length === 0 && <p className={styles.quiet}>This gateway has no deterrent yet.</p>}
      {draft.fire.length > 1 && (
        <NativeSelect
          label="Which"
          data={WHICH}
          value={draft.choose}
          onChange={(event) => set({ choose: event.currentTarget.value as RuleDraft['choose'] })}
        />
      )}
      <div className={styles.row}>
        <NumberInput
          hideControls
          label="Seconds"
          description="Empty: as long as the deterrent says."
          value={draft.seconds}
          min={1}
          max={1_800}
          allowDecimal={false}
          error={errorOf('seconds')}
          onChange={(seconds) => set({ seconds: numberOf(seconds), secondsMost: numberOf(seconds) })}
        />
        <NumberInput
          hideControls
          label="At most, for a random length"
          value={draft.secondsMost}
          min={1}
          max={1_800}
          allowDecimal={false}
          disabled={draft.seconds === ''}
          onChange={(most) => set({ secondsMost: numberOf(most) })}
        />
      </div>
      <TickBox checked={draft.aboutPersons} onChange={(aboutPersons) => set({ aboutPersons })}>
        It fires also while a person is there
      </TickBox>
      {draft.aboutPersons && (
        <Notice tone="warning">
          {errorOf('aboutPersons') ??
            'A person does not keep this rule from firing. Water and noise can hurt and frighten people.'}
        </Notice>
      )}
    </>
  )
}

const offered = (...names: readonly (readonly string[])[]) => [...new Set(names.flat())]

const pairs = (names: readonly string[]) => names.map((name) => [name, name] as const)

const numberOf = (value: string | number) => (typeof value === 'number' ? value : '')
