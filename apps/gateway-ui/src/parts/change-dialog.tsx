import { Button } from '@mantine/core'
import type { SettingsEdit } from '@hedgerow/contract/device-interface'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { messageOf } from '../calls.ts'
import { useChangeSettings } from '../settings.ts'
import { FilePassword, useFilePassword } from './file-password.tsx'
import styles from './form.module.css'

export type Change = { title: string; words?: string; verb: string; edits: SettingsEdit[]; hash: string }

/** Asks before a change of gateway.yaml that needs no form. */
export function ChangeDialog({ title, words, verb, edits, hash, onGone }: Change & { onGone: () => void }) {
  const life = useDialogLife(onGone)
  const change = useChangeSettings()
  const password = useFilePassword()
  return (
    <Dialog title={title} size="sm" {...life}>
      <div className={styles.form}>
        {words !== undefined && <p>{words}</p>}
        <FilePassword {...password} />
        {change.error !== null && <Notice tone="danger">{messageOf(change.error)}</Notice>}
        <DialogActions onCancel={life.onClose}>
          <Button
            loading={change.isPending}
            disabled={password.isMissing}
            onClick={() => change.mutate({ edits, hash, ...password.given }, { onSuccess: life.onClose })}
          >
            {verb}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  )
}
