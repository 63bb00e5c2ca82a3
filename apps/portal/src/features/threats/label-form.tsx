import { Button, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import styles from './threats.module.css'

/** Corrects the label; offers the labels that this hub knows. */
export function LabelForm({
  labels,
  onSave,
  onCancel,
}: {
  labels: readonly string[]
  onSave: (label: string) => void
  onCancel: () => void
}) {
  const [label, setLabel] = useState('')
  const listId = useId()
  return (
    <form
      className={styles.labelForm}
      onSubmit={(event) => {
        event.preventDefault()
        if (label.trim() !== '') onSave(label.trim())
      }}
    >
      <TextInput
        label="What is it?"
        size="sm"
        ref={focusOnce}
        list={listId}
        maxLength={100}
        value={label}
        onChange={(event) => setLabel(event.currentTarget.value.replaceAll(',', ' '))}
        // Escape leaves the form, not the dialog around it, which listens at the window before React does.
        data-mantine-stop-propagation="true"
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      />
      <datalist id={listId}>
        {labels.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </datalist>
      <Button size="sm" variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button size="sm" type="submit" disabled={label.trim() === ''}>
        Save label
      </Button>
    </form>
  )
}

/** Focuses the field when the form was just opened. */
export const focusOnce = (field: HTMLInputElement | null) => field?.focus()
