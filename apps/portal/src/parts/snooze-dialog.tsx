import { useCameras } from '#api/cameras.ts'
import { useGateways } from '#api/gateways.ts'
import { placeKey, placeOf } from '#api/places.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Dialog, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { SnoozeForm, type Snoozed } from '@hedgerow/ui/snooze-form.tsx'
import type { Order } from './offered.ts'
import { useOrderOfSeveral, useToldOrder, type Ordered } from './orders.ts'

const WHOLE = ''
const SITE = 'site'
const CAMERA = 'camera '

/** Asks what to snooze, and for how long. */
export default function SnoozeDialog({ gateway, onGone }: { gateway: Ordered; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const { give } = useToldOrder(gateway)
  const several = useOrderOfSeveral()
  const mayMaintain = mayManageFleet(useUser().role)
  const ofSite = useAtSite(gateway.id)
  const cameras = useCamerasOf(gateway)
  const snooze = ({ what, isMaintenance, time }: Snoozed) => {
    const camera = what.startsWith(CAMERA) ? { camera: what.slice(CAMERA.length) } : {}
    const kind = isMaintenance ? 'maintenance' : 'snooze'
    const order: Extract<Order, { action: 'snooze' }> = { action: 'snooze', kind, ...camera, ...time }
    if (what === SITE) several.mutate({ ids: ofSite.ids, order })
    else void give(order)
    life.onClose()
  }
  return (
    <Dialog {...life} title={`Snooze ${gateway.name}`} size="sm">
      <SnoozeForm
        first={gateway.camera === undefined ? WHOLE : CAMERA + gateway.camera}
        whats={[
          { value: WHOLE, label: `Everything at ${gateway.name}`, mayMaintain },
          ...cameras.map((name) => ({ value: CAMERA + name, label: `Camera ${name}`, mayMaintain: false })),
          ...(ofSite.ids.length > 1
            ? [{ value: SITE, label: `All ${ofSite.ids.length} gateways at ${ofSite.site}`, mayMaintain }]
            : []),
        ]}
        onSnooze={snooze}
      />
    </Dialog>
  )
}

/** The gateways of its site that run the agent. */
function useAtSite(id: string): { site: string; ids: string[] } {
  const gateways = useGateways().data ?? []
  const one = gateways.find((each) => each.id === id)
  const site = one === undefined ? '' : placeOf(one)
  if (one === undefined || site === '') return { site, ids: [] }
  const there = gateways.filter((each) => each.kind === 'enrolled' && placeKey(each) === placeKey(one))
  return { site, ids: there.map((each) => each.id) }
}

function useCamerasOf({ id, camera }: Ordered): string[] {
  const names = (useCameras().data ?? []).filter(({ gatewayId }) => gatewayId === id).map(({ name }) => name)
  return camera === undefined || names.includes(camera) ? names : [camera, ...names]
}
