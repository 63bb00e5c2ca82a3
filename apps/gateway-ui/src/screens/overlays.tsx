import { Button } from '@mantine/core'
import type { Box } from '@hedgerow/contract'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { messageOf } from '../calls.ts'
import { Stage } from '../parts/stage.tsx'
import { useLookAtOverlays } from '../queries.ts'
import styles from './camera.module.css'

/** What the camera writes into its picture, and is not looked at. */
export function Overlays({ name, boxes, mayChange }: { name: string; boxes: readonly Box[]; mayChange: boolean }) {
  const look = useLookAtOverlays(name)
  return (
    <Panel title="Text in the picture">
      <p className={styles.note}>Something is written into the picture here; the gateway does not look at it.</p>
      <Stage
        camera={name}
        shapes={boxes.map((box) => ({ key: JSON.stringify(box), tone: 'mask', polygon: corners(box) }))}
      />
      {mayChange && (
        <p className={styles.note}>
          <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
            Look there again
          </Button>
        </p>
      )}
      {look.error && <Notice tone="danger">{messageOf(look.error)}</Notice>}
    </Panel>
  )
}

const corners = ({ x, y, width, height }: Box) =>
  [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ] as const
