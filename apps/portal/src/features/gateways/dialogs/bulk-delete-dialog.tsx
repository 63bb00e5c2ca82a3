import type { Gateway } from '@hedgerow/contract'
import { TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { BulkActions } from '#parts/bulk-actions.tsx'
import { useOneByOne } from '#parts/one-by-one.ts'
import { OutcomeList } from '#parts/outcome-list.tsx'
import { Dialog, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { DELETION_FOLLOWS, deleteFailed, deletedMessage, numberOfGateways } from '../messages.ts'
import { useDeleteGateway } from '../queries.ts'

/** Deletes several gateways after their number is typed, so that a wrong click cannot. */
export function BulkDeleteDialog({ gateways, opened, onClose, onGone }: DialogLife & { gateways: readonly Gateway[] }) {
  const remove = useDeleteGateway()
  const [typed, setTyped] = useState('')
  const matches = typed.trim() === String(gateways.length)
  const work = useOneByOne(
    gateways.map(({ id }) => id),
    async (id) => {
      const name = gateways.find((one) => one.id === id)?.name ?? ''
      await remove.mutateAsync({ id, name })
      return { message: deletedMessage(name) }
    },
    (error) => deleteFailed(messageOf(error)),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (matches) void work.start()
  }
  return (
    <Dialog
      title={`Delete ${numberOfGateways(gateways.length)}?`}
      size="lg"
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      <form onSubmit={submit} noValidate>
        <p>{DELETION_FOLLOWS}</p>
        {!work.finished && (
          <TextInput
            label={`Type “${gateways.length}” to confirm`}
            autoComplete="off"
            inputMode="numeric"
            data-autofocus
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <OutcomeList
          outcomes={work.outcomes}
          words={numberOfGateways(gateways.length)}
          items={gateways.map(({ id, name }) => ({ key: id, name, detail: <Mono>{id}</Mono> }))}
        />
        <BulkActions
          work={work}
          count={gateways.length}
          verb="Delete"
          color="red"
          disabled={!matches}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
