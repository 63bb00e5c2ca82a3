import type { Gateway } from '@hedgerow/contract'
import { ActionIcon } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { MoreIcon } from '#ui/icons.tsx'
import type { GatewayVerb } from './dialogs.tsx'

const loadItems = () => import('./gateway-menu-items.tsx')
const GatewayMenuItems = lazy(loadItems)

type GatewayMenuProps = {
  gateway: Gateway
  mayManage: boolean
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
  size?: number
}

/** What else can be done with a gateway. A row holds only the button until it is pressed: a menu for each costs too much. */
export function GatewayMenu({ size = 28, ...items }: GatewayMenuProps) {
  const [asked, setAsked] = useState(false)
  const button = (
    <ActionIcon
      variant={size > 28 ? 'default' : 'subtle'}
      size={size}
      aria-label={`More actions for ${items.gateway.name}`}
      aria-haspopup="menu"
      onPointerEnter={() => void loadItems()}
      onFocus={() => void loadItems()}
      onClick={() => setAsked(true)}
    >
      <MoreIcon />
    </ActionIcon>
  )
  if (!asked) return button
  return (
    <Suspense fallback={button}>
      <GatewayMenuItems button={button} {...items} />
    </Suspense>
  )
}
