/** Filters that the person saved under a name: one click applies one, in any browser. */
import type { SavedView } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { deleteSavedView, listSavedViews, saveView } from 'virtual:contract-calls'
import { api, messageOf } from '#api/client.ts'
import { EVERYTHING, readFilter, writeFilter, type Filter } from './filter.ts'
import { focusOnce } from './label-form.tsx'
import styles from './threats.module.css'

const KEY = ['saved-views'] as const
const NONE: readonly SavedView[] = []

export function SavedViews({ filter, onShow }: { filter: Filter; onShow: (filter: Filter) => void }) {
  const queries = useQueryClient()
  const { data: views = NONE } = useQuery({ queryKey: KEY, queryFn: ({ signal }) => api(listSavedViews, { signal }) })
  const settle = { onSettled: () => queries.invalidateQueries({ queryKey: KEY }) }
  const remove = useMutation({ mutationFn: (id: string) => api(deleteSavedView, { params: { id } }), ...settle })
  const text = writeFilter(new URLSearchParams(), filter).toString()
  const shown = views.find((view) => view.filter === text)
  const [isNaming, setNaming] = useState(false)
  const isEverything = text === writeFilter(new URLSearchParams(), EVERYTHING).toString()
  if (views.length === 0 && isEverything) return null
  return (
    <fieldset className={styles.segments} aria-label="Saved views">
      {views.map((view) => (
        <button
          key={view.id}
          type="button"
          className={styles.toggle}
          aria-pressed={view === shown}
          onClick={() => onShow(view === shown ? EVERYTHING : readFilter(new URLSearchParams(view.filter)))}
        >
          {view.name}
        </button>
      ))}
      {shown ? (
        <Button
          className={styles.ofView ?? ''}
          size="compact-sm"
          variant="subtle"
          loading={remove.isPending}
          onClick={() => remove.mutate(shown.id)}
        >
          Delete “{shown.name}”
        </Button>
      ) : isNaming ? (
        <NameForm filter={text} onDone={() => setNaming(false)} />
      ) : (
        !isEverything && (
          <Button className={styles.ofView ?? ''} size="compact-sm" variant="subtle" onClick={() => setNaming(true)}>
            Save this view…
          </Button>
        )
      )}
    </fieldset>
  )
}

function NameForm({ filter, onDone }: { filter: string; onDone: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const save = useMutation({
    mutationFn: () => api(saveView, { body: { name, filter } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: KEY })
      onDone()
    },
  })
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className={styles.nameForm} onSubmit={submit}>
      <TextInput
        size="xs"
        aria-label="Name of the view"
        placeholder="Name of the view"
        maxLength={60}
        readOnly={save.isPending}
        value={name}
        ref={focusOnce}
        error={save.error && messageOf(save.error)}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" size="compact-sm" disabled={name.trim() === ''} loading={save.isPending}>
        Save
      </Button>
      <Button size="compact-sm" variant="subtle" onClick={onDone}>
        Cancel
      </Button>
    </form>
  )
}
