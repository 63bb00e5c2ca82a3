import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { countTags, tagsIn } from '#api/tags.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { taggedMessage } from '../messages.ts'
import { useTagGateways } from '../queries.ts'
import { TagField, wrongTags } from './tag-field.tsx'

type Field = 'add' | 'remove'

/** Adds tags to several gateways, and removes tags from them. */
export function BulkTagDialog({ gateways, opened, onClose, onGone }: DialogLife & { gateways: readonly Gateway[] }) {
  const tag = useTagGateways()
  const [texts, setTexts] = useState<Record<Field, string>>({ add: '', remove: '' })
  const [problems, setProblems] = useState<Partial<Record<string, string>>>({})
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const body = { add: tagsIn(texts.add), remove: tagsIn(texts.remove) }
    const wrong = problemsOf(texts)
    setProblems(wrong)
    if (Object.keys(wrong).length > 0) return focusFirstError(form)
    try {
      const ids = gateways.map(({ id }) => id)
      void toast(taggedMessage(await tag.mutateAsync({ ids, ...body })))
      onClose()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblems(error.fieldErrors)
    }
  }
  const field = (name: Field) => ({
    value: texts[name],
    error: problems[name],
    onChange: (text: string) => setTexts((now) => ({ ...now, [name]: text })),
  })
  return (
    <Dialog title={`Tag ${gateways.length} gateways`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        {tag.isError && <Notice tone="danger">{messageOf(tag.error)}</Notice>}
        <TagField label="Tags to add" description="Words with commas between them." {...field('add')} />
        <TagField label="Tags to remove" known={[...countTags(gateways).keys()]} {...field('remove')} />
        <DialogActions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={tag.isPending}>
            {`Tag ${gateways.length}`}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function problemsOf({ add, remove }: Record<Field, string>): Partial<Record<Field, string>> {
  const [wrongAdd, wrongRemove] = [wrongTags(add), wrongTags(remove)]
  const removed = tagsIn(remove)
  const both = tagsIn(add).find((tag) => removed.includes(tag))
  if (wrongAdd !== undefined) return { add: wrongAdd }
  if (wrongRemove !== undefined) return { remove: wrongRemove }
  if (both !== undefined) return { remove: `“${both}” cannot be added and removed at once` }
  return tagsIn(add).length + removed.length === 0 ? { add: 'Enter a tag' } : {}
}
