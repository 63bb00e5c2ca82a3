import { Menu } from '@mantine/core'
import { AccountButton } from '@hedgerow/ui/account-button.tsx'
import { AccountHead, ThemeItems } from '@hedgerow/ui/account.tsx'
import { useSignOut, useStatus } from './queries.ts'
import { useVisitor } from './session.ts'

/** The menu of the person: the link back to the hub, the colour scheme, and signing out. */
export function VisitorMenu() {
  const { name, via } = useVisitor()
  const { hubUrl = null, gatewayId = null } = useStatus().data ?? {}
  const { mutate: signOut } = useSignOut()
  return (
    <Menu
      position="bottom-end"
      width={210}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 100 }}
    >
      <Menu.Target>
        <AccountButton name={name} />
      </Menu.Target>
      <Menu.Dropdown>
        <AccountHead name={name} detail={via === 'hub' ? 'through the hub' : 'on the device’s network'} />
        <Menu.Divider />
        {hubUrl !== null && (
          <Menu.Item component="a" href={gatewayId === null ? hubUrl : `${hubUrl}/gateways/${gatewayId}`}>
            Back to the hub
          </Menu.Item>
        )}
        <Menu.Divider />
        <ThemeItems />
        {via === 'device' && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => signOut()}>Sign out</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
