import { Button } from '@mantine/core'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from '../calls.ts'
import { useSettings, useUndo, useUndoSave } from '../settings.ts'
import { useVisitor } from '../session.ts'
import { FilePassword, useFilePassword } from './file-password.tsx'
import styles from './form.module.css'

/** Puts back what the last save of this visit replaced, until somebody changes the file again. */
export function UndoBar() {
  const { mayManage } = useVisitor()
  const { data } = useUndo()
  const settings = useSettings(mayManage)
  const undo = useUndoSave()
  const password = useFilePassword()
  if (data === null || data.hash !== settings.data?.hash) return null
  return (
    <Notice tone="good">
      <div className={styles.undo}>
        <span>Saved. It is active.</span>
        <FilePassword {...password} />
        <Button
          variant="default"
          size="compact-sm"
          loading={undo.isPending}
          disabled={password.isMissing}
          onClick={() =>
            undo.mutate(
              { ...data, ...password.given },
              { onSuccess: () => void toast('The file is as it was before the last save.') },
            )
          }
        >
          Undo
        </Button>
      </div>
      {undo.error !== null && <p role="alert">{messageOf(undo.error)}</p>}
    </Notice>
  )
}
