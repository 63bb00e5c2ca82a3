/** What a gateway learned from reviews, read from it now, with a button for going back to an earlier version. */
import type { GatewayDetail } from '@hedgerow/contract'
import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Learned } from '@hedgerow/ui/learned.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Names } from './learning-names.tsx'
import { useLearning, useUndoLearning } from './learning-queries.ts'
import styles from './gateway-page.module.css'

export function Learning({ gateway }: { gateway: GatewayDetail }) {
  if (gateway.status === 'offline')
    return (
      <PanelEmpty title="Offline">
        The gateway keeps what it learned. The hub reads it when the gateway is back.
      </PanelEmpty>
    )
  return <Online gateway={gateway} />
}

function Online({ gateway }: { gateway: GatewayDetail }) {
  const { id } = gateway
  const mayUndo = mayManageFleet(useUser().role)
  const query = useLearning(id)
  const { data } = query
  const undo = useUndoLearning(id)
  if (data === undefined) return <PanelWaiting query={query} rows={4} label="Loading what was learned" />
  return (
    <>
      {data.state !== 'waiting' && <Notice tone={data.state === 'failed' ? 'warning' : 'plain'}>{data.message}</Notice>}
      <output>
        {undo.error !== null && <Notice tone="warning">{messageOf(undo.error)}</Notice>}
        {undo.data !== undefined && undo.data.state !== 'done' && <Notice tone="warning">{undo.data.message}</Notice>}
      </output>
      {data.cameras.length === 0 ? (
        <PanelEmpty title="Nothing learned yet">
          Mark incidents as correct or wrong in <Link to={`/threats?gateway=${id}&review=none`}>Threats</Link>. It
          learns at night, from 20 of each for a label.
        </PanelEmpty>
      ) : (
        data.cameras.map((camera) => (
          <details key={camera.camera} className={styles.learned} open={data.cameras.length === 1}>
            <summary>{camera.camera}</summary>
            <Learned
              camera={camera}
              isUndoing={undo.isPending}
              onUndo={mayUndo ? undo.mutate : undefined}
              heldBack={
                <Link
                  to={`/threats?${new URLSearchParams({ gateway: id, camera: camera.camera, learning: 'hidden' })}`}
                >
                  What is hidden on {camera.camera}
                </Link>
              }
              renderMask={() => <small>Accept or dismiss it in the gateway’s own interface, under Learning.</small>}
            />
          </details>
        ))
      )}
      <Names gateway={gateway} learning={data} mayManage={mayUndo} />
    </>
  )
}
