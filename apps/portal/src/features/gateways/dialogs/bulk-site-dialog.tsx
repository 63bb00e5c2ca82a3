import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useAssignSite, useSites } from '#api/sites.ts'
import { OutcomeList } from '#parts/outcome-list.tsx'
import { SiteSelect } from '#parts/site-select.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { numberOfGateways, placedMessage } from '../messages.ts'

const UNCHOSEN = { value: 'unchosen', label: 'Choose a site' }

/** Puts several gateways in a site, or takes them out of theirs. */
export function BulkSiteDialog({ gateways, opened, onClose, onGone }: DialogLife & { gateways: readonly Gateway[] }) {
  const sites = useSites()
  const assign = useAssignSite()
  const form = useForm({
    initialValues: { siteId: UNCHOSEN.value },
    validate: { siteId: (siteId) => (siteId === UNCHOSEN.value ? UNCHOSEN.label : null) },
  })
  const submit = submitTo(form, async ({ siteId }) => {
    await assign.mutateAsync({ ids: gateways.map(({ id }) => id), siteId: siteId === '' ? null : siteId })
    void toast(placedMessage(gateways.length, sites.data?.find(({ id }) => id === siteId)?.name))
    onClose()
  })
  return (
    <Dialog title={`Site of ${numberOfGateways(gateways.length)}`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        {assign.isError && <Notice tone="danger">{messageOf(assign.error)}</Notice>}
        {sites.data?.length === 0 && <Notice tone="warning">There is no site yet. The screen Sites adds one.</Notice>}
        <SiteSelect first={UNCHOSEN} none="In no site" data-autofocus {...form.getInputProps('siteId')} />
        <OutcomeList
          words={numberOfGateways(gateways.length)}
          outcomes={new Map()}
          items={gateways.map(({ id, name, site }) => ({ key: id, name, detail: site?.name ?? 'In no site' }))}
        />
        <DialogActions onCancel={onClose}>
          <Button type="submit" loading={assign.isPending}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
