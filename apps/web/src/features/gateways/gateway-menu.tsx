import type { Gateway } from '@hedgerow/contract'
import { ActionIcon, Menu } from '@mantine/core'
import { MANAGER_NEEDED } from '#api/roles.ts'
import { MoreIcon } from '#ui/icons.tsx'
import type { GatewayVerb } from './dialogs.tsx'
import styles from './row.module.css'

const ITEMS = [
  ['edit', 'Edit Gateway'],
  ['vpn', 'VPN Config'],
  ['delete', 'Delete Gateway'],
] as const

type GatewayMenuProps = {
  gateway: Gateway
  mayManage: boolean
  onVerb: (verb: GatewayVerb, gateway: Gateway) => void
  size?: number
}

/** What else can be done with a gateway. What the role may not do stays visible, with the reason. */
export function GatewayMenu({ gateway, mayManage, onVerb, size = 28 }: GatewayMenuProps) {
  return (
    <Menu
      position="bottom-end"
      width={220}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 100 }}
    >
      <Menu.Target>
        <ActionIcon
          variant={size > 28 ? 'default' : 'subtle'}
          size={size}
          aria-label={`More actions for ${gateway.name}`}
        >
          <MoreIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
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
      </Menu.Dropdown>
    </Menu>
  )
}
