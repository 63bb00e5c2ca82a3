/** The fields of the three tabs that are saved together from one set of values. */
import { Switch, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { FieldErrors, SwitchName, TextName, Values } from './values.ts'

export type Fields = {
  values: Values
  /** The values that are saved on the hub. */
  saved: Values
  errors: FieldErrors
  mayChange: boolean
  set: (change: Partial<Values>) => void
}

type FieldProps<Name> = { fields: Fields; name: Name; label: string; description?: ReactNode }

export function TextField({ fields, name, label, description, ...more }: FieldProps<TextName> & { numeric?: boolean }) {
  const { numeric = false } = more
  return (
    <TextInput
      name={name}
      label={label}
      description={description}
      autoComplete="off"
      spellCheck={false}
      inputMode={numeric ? 'numeric' : 'text'}
      disabled={!fields.mayChange}
      value={fields.values[name]}
      error={fields.errors[name]}
      onChange={(event) => fields.set({ [name]: event.currentTarget.value })}
    />
  )
}

export function SwitchField({ fields, name, label, description }: FieldProps<SwitchName>) {
  return (
    <Switch
      name={name}
      label={label}
      description={description}
      disabled={!fields.mayChange}
      checked={fields.values[name]}
      onChange={(event) => fields.set({ [name]: event.currentTarget.checked })}
    />
  )
}
