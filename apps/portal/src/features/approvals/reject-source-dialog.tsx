import { Dialog, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { REJECTION_FOLLOWS_FOR_ALL, rejectAllOf, sourceRejectedMessage } from './messages.ts'
import { useRejectSource, type Source } from './queries.ts'
import { RejectForm } from './reject-form.tsx'

/** Rejects all waiting requests of one address or network. */
export function RejectSourceDialog({ source, opened, onClose, onGone }: DialogLife & { source: Source }) {
  const reject = useRejectSource()
  return (
    <Dialog title={`${rejectAllOf(source)}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <RejectForm
        draft={`registrations.reject-source.${source.source}`}
        button="Reject all"
        rejection={reject}
        onClose={onClose}
        onReject={async (reason) => {
          const { rejected } = await reject.mutateAsync({ source: source.source, reason })
          void toast(sourceRejectedMessage(source.source, rejected))
          onClose()
        }}
      >
        <p>{REJECTION_FOLLOWS_FOR_ALL}</p>
      </RejectForm>
    </Dialog>
  )
}
