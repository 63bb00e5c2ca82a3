import { Button } from '@mantine/core'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import type { LearnedMask } from '@hedgerow/ui/learned.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { DeviceError, messageOf } from '../calls.ts'
import { FilePassword, useFilePassword } from '../parts/file-password.tsx'
import { Stage } from '../parts/stage.tsx'
import { useCamera, useChangeCamera } from '../queries.ts'
import styles from './learning.module.css'

type AcceptMaskDialogProps = { camera: string; mask: LearnedMask; onGone: () => void }

/** Shows a proposed mask on the camera's picture, and writes it into gateway.yaml. */
export function AcceptMaskDialog({ camera, mask, onGone }: AcceptMaskDialogProps) {
  const life = useDialogLife(onGone)
  const settings = useCamera(camera)
  const change = useChangeCamera(camera)
  const password = useFilePassword()
  const isElsewhere = settings.error instanceof DeviceError && settings.error.code === 'camera_not_found'
  return (
    <Dialog title={`Mask on ${camera}`} size="xl" {...life}>
      <div className={styles.dialog}>
        <Stage camera={camera} shapes={[{ key: mask.id, tone: 'mask', polygon: mask.polygon }]} />
        {settings.data !== undefined && <p>Movement in here is ignored, and nothing is reported here.</p>}
        {isElsewhere ? (
          <>
            <Notice tone="plain">
              This device does not read {camera} itself. Add the mask where the camera is configured, such as in
              Frigate’s own file.
            </Notice>
            <pre className={styles.lines}>{mask.lines}</pre>
          </>
        ) : settings.data === undefined ? (
          settings.error === null ? (
            <PanelSkeleton rows={1} label="Loading the camera" />
          ) : (
            <Notice tone="danger">{messageOf(settings.error)}</Notice>
          )
        ) : (
          <FilePassword {...password} />
        )}
        {change.error !== null && <Notice tone="danger">{messageOf(change.error)}</Notice>}
        <DialogActions onCancel={life.onClose}>
          <Button
            disabled={settings.data === undefined || password.isMissing}
            loading={change.isPending}
            onClick={() =>
              settings.data !== undefined &&
              change.mutate(
                {
                  change: { masks: [...settings.data.masks, corners(mask)] },
                  hash: settings.data.hash,
                  ...password.given,
                },
                {
                  onSuccess() {
                    void toast('The mask is in gateway.yaml and active.')
                    life.onClose()
                  },
                },
              )
            }
          >
            Accept
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  )
}

function corners({ polygon }: LearnedMask): [number, number][] {
  return polygon.map(([x, y]) => [x, y])
}
