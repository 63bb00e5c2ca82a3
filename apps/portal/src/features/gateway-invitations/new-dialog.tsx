import { newGatewayInvitation, type createGatewayInvitation, type ResponseOf } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { addressForDevices } from '#api/hub-address.ts'
import { useDraft } from '#api/drafts.ts'
import { CommandLine } from '@hedgerow/ui/command-line.tsx'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { useCreateInvitation } from './queries.ts'
import { RulesNotice } from './rules-notice.tsx'
import styles from './new-dialog.module.css'

/** Makes an invitation, then shows its code, the only time that it can be seen. */
export function NewDialog({ opened, onClose, onGone }: DialogLife) {
  const create = useCreateInvitation()
  const form = useForm({
    initialValues: { label: '', maxUses: 1, expiresInHours: 168 },
    validate: schemaResolver(newGatewayInvitation, { sync: true }),
  })
  useDraft('gateway-invitations.new', form.isDirty() ? form.values : undefined, form.setValues)
  const submit = form.onSubmit(
    async (values) => {
      try {
        await create.mutateAsync(values)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        form.setErrors(error.fieldErrors)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )
  const made = create.data
  return (
    <Dialog
      title={made === undefined ? 'New Invitation' : `Invitation ${made.invitation.label}`}
      size={made === undefined ? 'md' : 'xl'}
      shownOnce={made !== undefined}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {made === undefined ? (
        <form onSubmit={submit} noValidate>
          {create.isError && <Notice tone="danger">{messageOf(create.error)}</Notice>}
          <TextInput
            label="Label"
            description="For the list, such as the place or the person who sets the devices up."
            withAsterisk
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('label')}
          />
          <div className={styles.numbers}>
            <TextInput
              type="number"
              inputMode="numeric"
              label="Devices"
              min={1}
              {...form.getInputProps('maxUses')}
              onChange={(event) => form.setFieldValue('maxUses', event.currentTarget.valueAsNumber)}
              value={shown(form.values.maxUses)}
            />
            <TextInput
              type="number"
              inputMode="numeric"
              label="Expires in hours"
              min={1}
              {...form.getInputProps('expiresInHours')}
              onChange={(event) => form.setFieldValue('expiresInHours', event.currentTarget.valueAsNumber)}
              value={shown(form.values.expiresInHours)}
            />
          </div>
          <DialogActions>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create Invitation
            </Button>
          </DialogActions>
        </form>
      ) : (
        <Made made={made} onClose={onClose} />
      )}
    </Dialog>
  )
}

const shown = (number: number) => (Number.isNaN(number) ? '' : number)

/** A line for each word of a command, as a shell also takes it: none then breaks in the middle of a code. */
const inLines = (command: string) => command.replaceAll(/ (?=GATEWAY_|npm )/g, ' \\\n')

function Made({ made, onClose }: { made: ResponseOf<typeof createGatewayInvitation>; onClose: () => void }) {
  const caution = addressForDevices(made.hubUrl)
  return (
    <>
      <Notice tone="warning">Copy the command or scan it now: the hub keeps only a hash of the code.</Notice>
      {caution !== undefined && <Notice tone="plain">{caution}</Notice>}
      <RulesNotice />
      <div className={styles.ways}>
        <div className={styles.words}>
          <h3>In Hedgerow’s folder on the device</h3>
          <CommandLine>{inLines(made.command)}</CommandLine>
          <h3>Code</h3>
          <Mono>{made.code}</Mono>
          <h3>Hub fingerprint, which the device pins</h3>
          <Mono>{made.hubFingerprint}</Mono>
        </div>
        <figure className={styles.code}>
          <QrCode text={made.command} label={`QR code of the invitation ${made.invitation.label}`} />
          <figcaption>The same command as text, for a phone that is signed in to the device.</figcaption>
        </figure>
      </div>
      <DialogActions>
        <CopyButton text={made.command}>Copy command</CopyButton>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </>
  )
}
