import type { Gateway } from '@hedgerow/contract'
import { Menu } from '@mantine/core'
import type { ComponentProps, ReactElement } from 'react'
import { MANAGER_NEEDED } from '#api/roles.ts'
import { OFFLINE_REASON } from '#parts/offered.ts'
import { useOffered, useToldOrder } from '#parts/orders.ts'
import { MenuOnDemand } from '@hedgerow/ui/menu-on-demand.tsx'
import type { GatewayVerb } from './dialogs/dialogs.tsx'
import styles from './row.module.css'

const ITEMS = [
  ['edit', 'Edit Gateway'],
  ['vpn', 'VPN Config'],
  ['delete', 'Delete Gateway'],
] as const

type GatewayMenuItemsProps = {
  button: ReactElement<ComponentProps<'button'>>
  gateway: Gateway
  mayManage: boolean
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
}

/** Actions that the role may not do stay visible, with the reason. */
export default function GatewayMenuItems({ button, gateway, mayManage, onVerb }: GatewayMenuItemsProps) {
  const offered = useOffered(gateway)
  const { give } = useToldOrder(gateway)
  return (
    <MenuOnDemand button={button} width={220}>
      {gateway.kind === 'enrolled' && (
        <>
          {offered.map(({ key, words, order, disabled }) => (
            <Menu.Item
              key={key}
              className={key === 'stop' ? (styles.danger ?? '') : ''}
              {...(disabled && { 'aria-disabled': true, 'data-disabled': true, closeMenuOnClick: false })}
              onClick={() => {
                if (disabled) return
                if (order === undefined) onVerb(key === 'snooze' ? 'snooze' : 'disarm', gateway)
                else if (order.action !== 'fire') void give(order)
              }}
            >
              {words}
            </Menu.Item>
          ))}
          {offered.some(({ disabled }) => disabled) && <p className={styles.reason}>{OFFLINE_REASON}</p>}
          <Menu.Divider />
        </>
      )}
      {ITEMS.map(([verb, words]) =>
        mayManage ? (
          <Menu.Item
            key={verb}
            className={verb === 'delete' ? (styles.danger ?? '') : ''}
            onClick={() => onVerb(verb, gateway)}
          >
            {words}
          </Menu.Item>
        ) : (
          <Menu.Item key={verb} aria-disabled="true" data-disabled closeMenuOnClick={false}>
            {words}
          </Menu.Item>
        ),
      )}
      {!mayManage && <p className={styles.reason}>{MANAGER_NEEDED}</p>}
    </MenuOnDemand>
  )
}
