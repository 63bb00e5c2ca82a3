import { newGateway, type Gateway } from '@hedgerow/contract'
import { GATEWAY_TEXTS, ofGatewayTexts } from '@hedgerow/contract/gateway-fields'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { tagsIn } from '#api/tags.ts'
import { changesOf } from '#parts/follow.ts'
import { SiteSelect } from '#parts/site-select.tsx'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useUpdateGateway } from '../queries.ts'
import { TagField, wrongTags } from './tag-field.tsx'
import { GatewayTextInput } from './text-input.tsx'

const fieldsResolver = schemaResolver(newGateway.omit({ siteId: true, tags: true }), { sync: true })
const fieldsOf = <V extends { siteId: string; tags: string }>(values: V) => ({
  ...values,
  siteId: values.siteId === '' ? null : values.siteId,
  tags: tagsIn(values.tags),
})

/** Changes a gateway's name, site, texts and tags. */
export function EditDialog({ gateway, opened, onClose, onGone }: DialogLife & { gateway: Gateway }) {
  const update = useUpdateGateway(gateway.id)
  const form = useForm({
    initialValues: {
      name: gateway.name,
      siteId: gateway.site?.id ?? '',
      ...ofGatewayTexts((name) => gateway[name]),
      tags: gateway.tags.join(', '),
    },
    validate: ({ siteId: _siteId, tags, ...values }) => {
      const wrong = wrongTags(tags)
      return { ...fieldsResolver(values), ...(wrong !== undefined && { tags: wrong }) }
    },
  })
  useDraft(`gateways.edit.${gateway.id}`, form.isDirty() ? form.values : undefined, form.setValues)
  const submit = submitTo(
    form,
    async (values) => {
      const { name } = await update.mutateAsync(changesOf(fieldsOf(values), fieldsOf(form.getInitialValues())))
      // What is typed meanwhile is a change of this.
      form.setInitialValues(values)
      void toast(`Gateway "${name}" saved.`)
      if (isAsSent(form, values)) onClose()
    },
    (error) => (error.code === 'gateway_name_taken' ? { name: error.message } : error.fieldErrors),
  )
  return (
    <Dialog title={`Edit ${gateway.name}`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        {update.isError && <Notice tone="danger">{messageOf(update.error)}</Notice>}
        <TextInput label="Gateway Name" withAsterisk data-autofocus {...form.getInputProps('name')} />
        <SiteSelect none="In no site" {...form.getInputProps('siteId')} />
        {GATEWAY_TEXTS.map((name) => (
          <GatewayTextInput key={name} name={name} input={form.getInputProps(name)} />
        ))}
        <TagField
          label="Tags"
          value={form.values.tags}
          error={form.errors['tags']}
          onChange={(tags) => form.setFieldValue('tags', tags)}
        />
        <DialogActions onCancel={onClose}>
          <Button type="submit" loading={update.isPending}>
            Save Gateway
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
