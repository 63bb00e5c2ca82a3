/** The people that a rule notifies next while nobody has acknowledged an alert. */
import type { AlertStep } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import styles from './alerts.module.css'

const STEPS_MAX = 5
const FIRST: AlertStep = { afterMinutes: 15, channels: [], people: [] }

export type Person = { id: string; name: string }

type StepsFieldProps = {
  steps: readonly AlertStep[]
  channels: readonly string[]
  people: readonly Person[]
  onChange: (steps: AlertStep[]) => void
}

export function StepsField({ steps, channels, people, onChange }: StepsFieldProps) {
  const put = (index: number, step: AlertStep) => onChange(steps.map((one, i) => (i === index ? step : one)))
  return (
    <fieldset className={styles.steps}>
      <legend>While nobody has acknowledged it</legend>
      {steps.map((step, index) => (
        <fieldset key={index} aria-label={`Step ${index + 1}`} className={styles.step}>
          <div className={styles.stepHead}>
            <TextInput
              type="number"
              inputMode="numeric"
              min={1}
              label={`Step ${index + 1}: after, minutes`}
              value={Number.isNaN(step.afterMinutes) ? '' : step.afterMinutes}
              onChange={(event) => put(index, { ...step, afterMinutes: event.currentTarget.valueAsNumber })}
            />
            <Button
              variant="default"
              aria-label={`Remove step ${index + 1}`}
              onClick={() => onChange(steps.filter((_, i) => i !== index))}
            >
              Remove
            </Button>
          </div>
          <WhomField
            {...step}
            all={{ channels, people }}
            onChange={(whom) => put(index, { afterMinutes: step.afterMinutes, ...whom })}
          />
        </fieldset>
      ))}
      {steps.length < STEPS_MAX && (
        <Button variant="default" size="compact-sm" onClick={() => onChange([...steps, steps.at(-1) ?? FIRST])}>
          Add a step
        </Button>
      )}
    </fieldset>
  )
}

type Whom = { channels: string[]; people: string[] }

/** The channels and people of a step. No tick means all. */
export function WhomField({
  channels,
  people,
  all,
  onChange,
}: {
  channels: readonly string[]
  people: readonly string[]
  all: { channels: readonly string[]; people: readonly Person[] }
  onChange: (whom: Whom) => void
}) {
  const whom = { channels: [...channels], people: [...people] }
  return (
    <>
      {all.channels.length > 0 && (
        <fieldset className={styles.over}>
          <legend>Channels (none selected = all)</legend>
          {all.channels.map((name) => (
            <TickBox
              key={name}
              checked={channels.includes(name)}
              onChange={(isOn) => onChange({ ...whom, channels: toggled(channels, name, isOn) })}
            >
              {CHANNEL_NAMES[name] ?? name}
            </TickBox>
          ))}
        </fieldset>
      )}
      {all.people.length > 0 && (
        <fieldset className={styles.over}>
          <legend>People (none selected = everybody, with mail to the hub’s address)</legend>
          {all.people.map(({ id, name }) => (
            <TickBox
              key={id}
              checked={people.includes(id)}
              onChange={(isOn) => onChange({ ...whom, people: toggled(people, id, isOn) })}
            >
              {name}
            </TickBox>
          ))}
        </fieldset>
      )}
    </>
  )
}

export function toggled(values: readonly string[], value: string, isOn: boolean): string[] {
  const others = values.filter((one) => one !== value)
  return isOn ? [...others, value] : others
}
