import { Menu } from '@mantine/core'
import type { ReactElement } from 'react'
import { useNavigate } from 'react-router'
import { useSession, useUser } from '#api/session.tsx'
import { AccountHead, ThemeItems } from '@hedgerow/ui/account.tsx'

/** The account menu: profile, colour scheme and logout. Mounted on demand, so it starts open. */
export default function AccountItems({ avatar }: { avatar: ReactElement }) {
  const user = useUser()
  const { signOut } = useSession()
  const navigate = useNavigate()
  return (
    <Menu
      defaultOpened
      position="bottom-end"
      width={210}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 100 }}
    >
      <Menu.Target>{avatar}</Menu.Target>
      <Menu.Dropdown>
        <AccountHead name={user.username} detail={user.role} />
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate('/profile')}>Profile</Menu.Item>
        <Menu.Item onClick={() => void navigate('/help')}>Help</Menu.Item>
        <Menu.Divider />
        <ThemeItems />
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Logout</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
