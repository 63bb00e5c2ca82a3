import type { Gateway } from '@hedgerow/contract'
import { lazy, Suspense, useState } from 'react'
import { MoreIcon } from '@hedgerow/ui/icons.tsx'
import { RowButton } from '@hedgerow/ui/row-button.tsx'
import type { GatewayVerb } from './dialogs/dialogs.tsx'

const loadItems = () => import('./gateway-menu-items.tsx')
const GatewayMenuItems = lazy(loadItems)

type GatewayMenuProps = {
  gateway: Gateway
  mayManage: boolean
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
  /** For use among buttons of full height. */
  tall?: boolean
}

/**
 * The other actions of a gateway. A row has only the button until it is pressed: a menu for each row costs too much.
 */
export function GatewayMenu({ tall = false, ...items }: GatewayMenuProps) {
  const [isRequested, setRequested] = useState(false)
  const button = (
    <RowButton
      shape={tall ? 'tall-icon' : 'icon'}
      aria-label={`More actions for ${items.gateway.name}`}
      aria-haspopup="menu"
      onPointerEnter={() => void loadItems()}
      onFocus={() => void loadItems()}
      onClick={() => setRequested(true)}
    >
      <MoreIcon />
    </RowButton>
  )
  if (!isRequested) return button
  return (
    <Suspense fallback={button}>
      <GatewayMenuItems button={button} {...items} />
    </Suspense>
  )
}
