import { NativeSelect, TextInput } from '@mantine/core'
import styles from './invitation-limits.module.css'

const LIFETIMES = [
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
]

export const DEFAULT_LIFETIME_HOURS = 168

/** The time that an invitation is valid. */
export function LifetimeField({ hours, onChange }: { hours: number; onChange: (hours: number) => void }) {
  return (
    <NativeSelect
      label="Expires in"
      data={LIFETIMES}
      value={String(hours)}
      onChange={(event) => onChange(Number(event.currentTarget.value))}
    />
  )
}

/** The part of a form that this needs. */
type InvitationForm = {
  values: { maxUses: number; expiresInHours: number }
  getInputProps: (field: 'maxUses') => object
  setFieldValue: (field: 'maxUses' | 'expiresInHours', value: number) => void
}

/** How many devices or people an invitation admits, and for how long it is valid. `uses` names the number. */
export function InvitationLimits({ form, uses }: { form: InvitationForm; uses: string }) {
  const { maxUses, expiresInHours } = form.values
  return (
    <div className={styles.pair}>
      <TextInput
        type="number"
        inputMode="numeric"
        label={uses}
        min={1}
        {...form.getInputProps('maxUses')}
        onChange={(event) => form.setFieldValue('maxUses', event.currentTarget.valueAsNumber)}
        value={Number.isNaN(maxUses) ? '' : maxUses}
      />
      <LifetimeField hours={expiresInHours} onChange={(hours) => form.setFieldValue('expiresInHours', hours)} />
    </div>
  )
}
