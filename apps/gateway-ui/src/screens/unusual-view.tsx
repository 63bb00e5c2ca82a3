import { Button } from '@mantine/core'
import { deviceCalls } from 'virtual:device-calls'
import type { CameraState } from '@hedgerow/contract'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { addressOf, messageOf } from '../calls.ts'
import { useAcceptView } from '../queries.ts'
import styles from './camera.module.css'

export const isUnusual = (state: CameraState | undefined) =>
  state === 'covered' || state === 'turned' || state === 'unfocused'

/** What the camera usually sees, and what it saw when the fault was told. */
export function UnusualView({ name, mayAccept }: { name: string; mayAccept: boolean }) {
  const accept = useAcceptView(name)
  const picture = (moment: string) => addressOf(deviceCalls.readView, { name, moment })
  return (
    <Panel title="Before and after">
      <div className={styles.views}>
        <figure>
          <img src={picture('before')} alt="" />
          <figcaption>The last usual picture</figcaption>
        </figure>
        <figure>
          <img src={picture('after')} alt="" />
          <figcaption>When this was noticed</figcaption>
        </figure>
      </div>
      <p className={styles.note}>
        Deterrents that this camera watches do not fire. This ends when the camera sees as usual again.
      </p>
      {mayAccept && (
        <p className={styles.note}>
          <Button variant="default" loading={accept.isPending} onClick={() => accept.mutate()}>
            This view is right
          </Button>
        </p>
      )}
      {accept.error && <Notice tone="danger">{messageOf(accept.error)}</Notice>}
    </Panel>
  )
}
