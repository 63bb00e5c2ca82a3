import { newGateway, type Gateway } from '@hedgerow/contract'
import { TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import type { FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useCreateGatewayInvitation, type MadeGatewayInvitation } from '#api/gateway-invitations.ts'
import { deviceCommand } from '#parts/device-command.ts'
import { HelpLink } from '#parts/help-link.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import styles from '../page.module.css'
import { useAddGateway } from '../queries.ts'
import { GatewayTextInput } from './text-input.tsx'

export type Added =
  | { kind: 'agent'; made: MadeGatewayInvitation; command: string }
  | { kind: 'wireguard'; gateway: Gateway }

const WIREGUARD = 'wireguard'

/**
 * The three fields of a new gateway. Of its two buttons, one creates an invitation and the command that starts the
 * agent with it; the other adds a gateway for a device that runs plain WireGuard.
 */
export function AddForm({ onAdded }: { onAdded: (added: Added) => void }) {
  const invite = useCreateGatewayInvitation()
  const add = useAddGateway()
  const form = useForm({
    initialValues: { name: '', location: '', description: '' },
    validate: schemaResolver(newGateway, { sync: true }),
  })
  useDraft('gateways.add', form.isDirty() ? form.values : undefined, form.setValues)
  const isSending = invite.isPending || add.isPending
  async function send(kind: Added['kind'], values: typeof form.values): Promise<void> {
    if (isSending) return
    invite.reset()
    add.reset()
    if (kind === 'wireguard') return onAdded({ kind, gateway: await add.mutateAsync(values) })
    const { name, location, description } = values
    const made = await invite.mutateAsync({ label: name, description })
    const command = deviceCommand(made.command, { name: name.trim(), location: location.trim() })
    onAdded({ kind, made, command })
  }
  const submit = (event: FormEvent<HTMLFormElement>) =>
    submitTo(
      form,
      (values) => send(kindOf(event), values),
      ({ code, message, fieldErrors: { label, ...others } }) =>
        code === 'gateway_name_taken' ? { name: message } : { ...others, ...(label !== undefined && { name: label }) },
    )(event)
  const error = invite.error ?? add.error
  return (
    <form onSubmit={submit} noValidate>
      {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
      <TextInput ref={focusOnce} label="Gateway Name" withAsterisk data-autofocus {...form.getInputProps('name')} />
      <GatewayTextInput name="location" input={form.getInputProps('location')} />
      <GatewayTextInput name="description" input={form.getInputProps('description')} />
      <p>What runs on the device?</p>
      <div className={styles.kinds}>
        <button type="submit" aria-disabled={isSending}>
          <strong>Hedgerow agent</strong>
          <span>A small computer with cameras. You get a command to run on it.</span>
        </button>
        <button type="submit" value={WIREGUARD} aria-disabled={isSending}>
          <strong>Plain WireGuard</strong>
          <span>A router or another device. You get a WireGuard configuration for it.</span>
        </button>
      </div>
      <p className={styles.hint}>
        A device that runs the agent and finds the hub by itself waits under Approvals, without this dialog.{' '}
        <HelpLink to="install-gateway">All ways to install one</HelpLink>
      </p>
    </form>
  )
}

/** By the button that sent the form; Enter in a field sends it with the first one. */
function kindOf({ nativeEvent }: FormEvent): Added['kind'] {
  const { submitter } = nativeEvent as SubmitEvent
  return submitter instanceof HTMLButtonElement && submitter.value === WIREGUARD ? WIREGUARD : 'agent'
}
