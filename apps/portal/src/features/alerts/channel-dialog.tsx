import type { ChannelSetup } from '@hedgerow/contract'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import { Button, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { MailRecipient } from './mail-recipient.tsx'
import { channelChange, channelValues, isSetUp, type ChannelValues } from './channel-state.ts'
import { useEditChannel } from './queries.ts'
import styles from './alerts.module.css'

type Field = ChannelSetup['fields'][number]

/** The settings of a channel, from the hub's description of its fields. A secret that is set is never shown. */
export function ChannelDialog({ setup, onGone }: { setup: ChannelSetup; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const edit = useEditChannel()
  const form = useForm<ChannelValues>({ initialValues: channelValues(setup) })
  const submit = submitTo(form, async (values) => {
    await edit.mutateAsync({ name: setup.name, change: channelChange(setup, values) })
    if (isAsSent(form, values)) life.onClose()
  })
  const name = CHANNEL_NAMES[setup.name] ?? setup.name
  return (
    <Dialog {...life} title={isSetUp(setup) ? `Edit ${name}` : `Set Up ${name}`}>
      <form onSubmit={submit} noValidate className={styles.setup}>
        {edit.isError && Object.keys(form.errors).length === 0 && (
          <Notice tone="danger">{messageOf(edit.error)}</Notice>
        )}
        {setup.problem !== null && <Notice tone="warning">{setup.problem}</Notice>}
        <TickBox checked={form.values.enabled} onChange={(enabled) => form.setFieldValue('enabled', enabled)}>
          Send messages over this channel
        </TickBox>
        {setup.fields.map((field) =>
          field.isByVariable ? (
            <TextInput key={field.name} label={field.label} value={`Set by ${field.variable}`} readOnly />
          ) : field.kind === 'secret' ? (
            <SecretField
              key={field.name}
              field={field}
              input={form.getInputProps(`values.${field.name}`)}
              isRemoved={form.values.removed[field.name] ?? false}
              onRemove={(isRemoved) => form.setFieldValue(`removed.${field.name}`, isRemoved)}
            />
          ) : field.kind === 'choice' ? (
            <div key={field.name} className={styles.field}>
              <span aria-hidden="true">{field.label}</span>
              <Choice
                label={field.label}
                value={form.values.values[field.name] || (field.default ?? '')}
                options={field.choices.map((choice) => [
                  choice,
                  `${choice.slice(0, 1).toUpperCase()}${choice.slice(1)}`,
                ])}
                onChange={(value) => form.setFieldValue(`values.${field.name}`, value)}
              />
              <p className={styles.hint}>{field.help}</p>
            </div>
          ) : field.kind === 'lines' ? (
            <Textarea
              key={field.name}
              {...wordsOf(field)}
              rows={4}
              spellCheck={false}
              {...form.getInputProps(`values.${field.name}`)}
            />
          ) : (
            <TextInput
              key={field.name}
              {...wordsOf(field)}
              {...(field.kind === 'address' && { type: 'url', inputMode: 'url' })}
              placeholder={field.default ?? ''}
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps(`values.${field.name}`)}
            />
          ),
        )}
        {setup.name === 'email' && (
          <p className={styles.hint}>
            <MailRecipient />
          </p>
        )}
        <DialogActions onCancel={life.onClose}>
          <Button type="submit" loading={edit.isPending}>
            Save Channel
          </Button>
        </DialogActions>
      </form>
      <UnsavedGuard unsaved={form.isDirty() && !edit.isPending} />
    </Dialog>
  )
}

const wordsOf = ({ label, help, isNeeded }: Field) => ({ label, description: help, withAsterisk: isNeeded })

function SecretField({
  field,
  input,
  isRemoved,
  onRemove,
}: {
  field: Field
  input: object
  isRemoved: boolean
  onRemove: (isRemoved: boolean) => void
}) {
  return (
    <div>
      <PasswordField
        {...wordsOf(field)}
        {...(field.isSet && { placeholder: 'Set. Leave it empty to keep it' })}
        showLabel={`Show ${field.label}`}
        autoComplete="new-password"
        {...input}
        disabled={isRemoved}
      />
      {field.isSet && (
        <TickBox checked={isRemoved} onChange={onRemove}>
          Remove {field.label}
        </TickBox>
      )}
    </div>
  )
}
