import { newGateway, type Gateway } from '@hedgerow/contract'
import { TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { BulkActions } from '#parts/bulk-actions.tsx'
import { useOneByOne } from '#parts/one-by-one.ts'
import { OutcomeList } from '#parts/outcome-list.tsx'
import { Dialog, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { locationSaved, numberOfGateways } from '../messages.ts'
import { useUpdateGateways } from '../queries.ts'

/** Gives several gateways the same location; their names and descriptions stay. */
export function BulkEditDialog({ gateways, opened, onClose, onGone }: DialogLife & { gateways: readonly Gateway[] }) {
  const { update, refresh } = useUpdateGateways()
  const [location, setLocation] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const work = useOneByOne(
    gateways.map(({ id }) => id),
    async (id) => {
      const saved = await update.mutateAsync({ id, body: { location } })
      return { message: locationSaved(saved.location), path: `/gateways/${id}` }
    },
    messageOf,
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const wrong = newGateway.shape.location.safeParse(location).error?.issues[0]?.message
    setProblem(wrong)
    if (wrong !== undefined) {
      focusFirstError(event.currentTarget)
      return
    }
    await work.start()
    await refresh()
  }
  return (
    <Dialog
      title={`Edit ${numberOfGateways(gateways.length)}`}
      size="lg"
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <TextInput
          label="Location"
          description="Replaces the location of each gateway. An empty location removes it."
          autoComplete="off"
          data-autofocus
          disabled={work.finished}
          readOnly={work.working}
          error={problem}
          value={location}
          onChange={(event) => setLocation(event.currentTarget.value)}
        />
        <OutcomeList
          outcomes={work.outcomes}
          words={numberOfGateways(gateways.length)}
          items={gateways.map(({ id, name, location: before }) => ({
            key: id,
            name,
            detail: before === '' ? 'No location' : before,
          }))}
        />
        <BulkActions work={work} count={gateways.length} verb="Save" onClose={onClose} />
      </form>
    </Dialog>
  )
}
