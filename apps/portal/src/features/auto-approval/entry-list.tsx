import { ActionIcon, Button, TextInput } from '@mantine/core'
import { CrossIcon } from '@hedgerow/ui/icons.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import styles from './page.module.css'

type EntryListProps = {
  label: string
  example: string
  entries: readonly string[]
  text: string
  problem: string | undefined
  disabled: boolean
  onType: (text: string) => void
  onAdd: () => void
  onRemove: (entry: string) => void
}

/** A list of addresses, with a field that adds to it by its button or by Enter. */
export function EntryList({
  label,
  example,
  entries,
  text,
  problem,
  disabled,
  onType,
  onAdd,
  onRemove,
}: EntryListProps) {
  return (
    <div className={styles.entries}>
      {entries.length === 0 ? (
        <p className={styles.none}>None yet.</p>
      ) : (
        <ul>
          {entries.map((entry) => (
            <li key={entry}>
              <Mono>{entry}</Mono>
              {!disabled && (
                <ActionIcon variant="subtle" size={24} aria-label={`Remove ${entry}`} onClick={() => onRemove(entry)}>
                  <CrossIcon />
                </ActionIcon>
              )}
            </li>
          ))}
        </ul>
      )}
      {!disabled && (
        <div className={styles.add}>
          <TextInput
            aria-label={label}
            placeholder={example}
            autoComplete="off"
            spellCheck={false}
            value={text}
            error={problem}
            onChange={(event) => onType(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              // Here Enter adds to the list and does not submit the form.
              event.preventDefault()
              onAdd()
            }}
          />
          <Button variant="default" aria-label={`Add ${label}`} onClick={onAdd}>
            Add
          </Button>
        </div>
      )}
    </div>
  )
}
