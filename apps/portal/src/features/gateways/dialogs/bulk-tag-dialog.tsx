import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { countTags, tagsIn } from '#api/tags.ts'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { numberOfGateways, taggedMessage } from '../messages.ts'
import { useTagGateways } from '../queries.ts'
import { TagField, wrongTags } from './tag-field.tsx'

type Field = 'add' | 'remove'

/** Adds tags to several gateways, and removes tags from them. */
export function BulkTagDialog({ gateways, opened, onClose, onGone }: DialogLife & { gateways: readonly Gateway[] }) {
  const tag = useTagGateways()
  const form = useForm({ initialValues: { add: '', remove: '' }, validate: problemsOf })
  const submit = submitTo(form, async (values) => {
    const { add, remove } = values
    const ids = gateways.map(({ id }) => id)
    void toast(taggedMessage(await tag.mutateAsync({ ids, add: tagsIn(add), remove: tagsIn(remove) })))
    if (isAsSent(form, values)) onClose()
  })
  const field = (name: Field) => ({
    value: form.values[name],
    error: form.errors[name],
    onChange: (text: string) => form.setFieldValue(name, text),
  })
  return (
    <Dialog title={`Tag ${numberOfGateways(gateways.length)}`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        {tag.isError && <Notice tone="danger">{messageOf(tag.error)}</Notice>}
        <TagField
          label="Tags to add"
          description="A tag is one word. Commas or spaces separate tags."
          {...field('add')}
        />
        <TagField label="Tags to remove" known={[...countTags(gateways).keys()]} {...field('remove')} />
        <DialogActions onCancel={onClose}>
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
