import { newGateway, newGatewayInvitation, type Gateway } from '@hedgerow/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useCreateGatewayInvitation, type MadeGatewayInvitation } from '#api/gateway-invitations.ts'
import { useUser } from '#api/session.tsx'
import { tagsIn } from '#api/tags.ts'
import { useUsers } from '#api/users.ts'
import { DEFAULT_LIFETIME_HOURS, InvitationLimits } from '#parts/invitation-limits.tsx'
import { SiteSelect } from '#parts/site-select.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { TagField, wrongTags } from '../dialogs/tag-field.tsx'
import { GatewayTextInput } from '../dialogs/text-input.tsx'
import { useAddGateway } from '../queries.ts'
import styles from './add.module.css'
import { KINDS, type Kind } from './ways.ts'

export type Added =
  | { kind: Exclude<Kind, 'wireguard'>; made: MadeGatewayInvitation }
  | { kind: 'wireguard'; gateway: Gateway }

const textsResolver = schemaResolver(newGateway.pick({ name: true, location: true, description: true }), { sync: true })
const limitsResolver = schemaResolver(newGatewayInvitation.pick({ maxUses: true, expiresInHours: true }), {
  sync: true,
})

/** What is there, and what the gateway gets: an invitation for the agent, or a gateway of plain WireGuard. */
export function AddForm({ onAdded }: { onAdded: (added: Added) => void }) {
  const invite = useCreateGatewayInvitation()
  const add = useAddGateway()
  const form = useForm({
    initialValues: {
      kind: 'pi' as Kind,
      name: '',
      siteId: '',
      location: '',
      description: '',
      tags: '',
      owner: '',
      maxUses: 1,
      expiresInHours: DEFAULT_LIFETIME_HOURS,
      approves: true,
    },
    validate: (values) => {
      const wrong = wrongTags(values.tags)
      return {
        ...textsResolver({ name: values.name, location: values.location, description: values.description }),
        ...limitsResolver({ maxUses: values.maxUses, expiresInHours: values.expiresInHours }),
        ...(wrong !== undefined && { tags: wrong }),
      }
    },
  })
  useDraft('gateways.add', form.isDirty() ? form.values : undefined, form.setValues)
  const { kind, maxUses, approves } = form.values
  const isAgent = kind !== 'wireguard'
  const submit = submitTo(
    form,
    async ({ kind: chosen, tags, owner, ...values }) => {
      invite.reset()
      add.reset()
      const { name, siteId, location, description, ...limits } = values
      const place = { location, ...(siteId !== '' && { siteId }) }
      const texts = { name, ...place, description, tags: tagsIn(tags) }
      if (chosen === 'wireguard') return onAdded({ kind: chosen, gateway: await add.mutateAsync(texts) })
      // Several devices keep names of their own.
      const preset = { ...texts, label: name, name: limits.maxUses === 1 ? name : '' }
      onAdded({
        kind: chosen,
        made: await invite.mutateAsync({ ...preset, ...limits, owner: owner === '' ? null : owner }),
      })
    },
    ({ code, message, fieldErrors: { label, ...others } }) =>
      code === 'gateway_name_taken' ? { name: message } : { ...others, ...(label !== undefined && { name: label }) },
  )
  const error = invite.error ?? add.error
  return (
    <form onSubmit={submit} noValidate className={styles.form}>
      {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
      <fieldset className={styles.kinds}>
        <legend>What do you have?</legend>
        {(Object.keys(KINDS) as Kind[]).map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={one === kind} onChange={() => form.setFieldValue('kind', one)} />
            <strong>{KINDS[one].name}</strong>
            <span>{KINDS[one].about}</span>
          </label>
        ))}
      </fieldset>
      <TextInput
        label={isAgent && maxUses > 1 ? 'Label' : 'Gateway Name'}
        withAsterisk
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <SiteSelect none="The site that the location names, if any" {...form.getInputProps('siteId')} />
      <GatewayTextInput name="location" input={form.getInputProps('location')} />
      <details className={styles.more}>
        <summary>Tags, {isAgent ? 'owner, several devices' : 'description'}</summary>
        <TagField
          label="Tags"
          value={form.values.tags}
          error={form.errors['tags']}
          onChange={(tags) => form.setFieldValue('tags', tags)}
        />
        {isAgent && <OwnerField input={form.getInputProps('owner')} />}
        <GatewayTextInput name="description" input={form.getInputProps('description')} />
        {isAgent && <InvitationLimits form={form} uses="Devices" />}
        {isAgent && (
          <TickBox checked={approves} onChange={(checked) => form.setFieldValue('approves', checked)}>
            Join without my approval
          </TickBox>
        )}
      </details>
      <div className={styles.buttons}>
        <Button type="submit" loading={invite.isPending || add.isPending}>
          {isAgent ? 'Show how' : 'Add Gateway'}
        </Button>
      </div>
    </form>
  )
}

/** Managers can name only themselves. */
function OwnerField({ input }: { input: object }) {
  const { username, role } = useUser()
  const { data } = useUsers(role === 'admin')
  const names = role === 'admin' ? (data ?? []).filter(({ active }) => active).map((one) => one.username) : [username]
  return (
    <NativeSelect
      label="Owner"
      description="Sees the gateway, stops its deterrents and opens its pages."
      data={[{ value: '', label: 'Nobody: only managers and admins see it' }, ...names]}
      {...input}
    />
  )
}
