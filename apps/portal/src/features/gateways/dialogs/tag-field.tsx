import { gatewayTags } from '@hedgerow/contract'
import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useGateways } from '#api/gateways.ts'
import { countTags, tagsIn } from '#api/tags.ts'
import styles from '../page.module.css'

const SUGGESTED = 8

type TagFieldProps = {
  label: string
  description?: string
  value: string
  /** The tags to choose from; by default those of the whole fleet. */
  known?: readonly string[]
  error?: ReactNode
  disabled?: boolean
  onChange: (text: string) => void
}

/** A text field for tags, with buttons for the tags that gateways have already. */
export function TagField({ label, description, value, known, error, disabled = false, onChange }: TagFieldProps) {
  const { data = [] } = useGateways({ enabled: known === undefined })
  const typed = tagsIn(value)
  const suggested = (known ?? byFrequency(countTags(data))).filter((tag) => !typed.includes(tag)).slice(0, SUGGESTED)
  return (
    <div>
      <TextInput
        label={label}
        description={description}
        placeholder="north, orchard"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        disabled={disabled}
        error={error}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {suggested.length > 0 && !disabled && (
        <fieldset className={styles.suggested} aria-label={`Known: ${label.toLowerCase()}`}>
          {suggested.map((tag) => (
            <button key={tag} type="button" onClick={() => onChange([...typed, tag].join(', '))}>
              {tag}
            </button>
          ))}
        </fieldset>
      )}
    </div>
  )
}

const byFrequency = (counts: ReadonlyMap<string, number>) =>
  [...counts].toSorted(([, few], [, many]) => many - few).map(([tag]) => tag)

/** The error of the typed tags, if any. */
export function wrongTags(text: string): string | undefined {
  return gatewayTags.safeParse(tagsIn(text)).error?.issues[0]?.message
}
