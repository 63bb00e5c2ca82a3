import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'

type ConfirmDialogProps = DialogLife & {
  title: string
  button: string
  /** It takes something away: the button is red, and Enter cancels. */
  isHarmful?: boolean
  /** It cannot be done now; the content says why. */
  isRefused?: boolean
  /** Does it, and says so in a toast. */
  onConfirm: () => Promise<void>
  /** The words for a failure's message. */
  describe?: (message: string) => string
  children: ReactNode
}

/** Explains something before it is done; closes when it is done, and shows why it was not. */
export function ConfirmDialog({
  title,
  button,
  isHarmful = false,
  isRefused = false,
  onConfirm,
  ...rest
}: ConfirmDialogProps) {
  const { describe = (message) => message, children, ...life } = rest
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: life.onClose, gcTime: 0 })
  return (
    <Dialog title={title} {...life}>
      {children}
      {confirm.isError && <Notice tone="danger">{describe(messageOf(confirm.error))}</Notice>}
      <DialogActions onCancel={life.onClose} focusesCancel={isHarmful}>
        <Button
          {...(isHarmful ? { color: 'red' } : { 'data-autofocus': true })}
          loading={confirm.isPending}
          disabled={isRefused}
          onClick={() => confirm.mutate()}
        >
          {button}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
