import { Menu } from '@mantine/core'
import type { ComponentProps, ReactElement } from 'react'
import { useNavigate } from 'react-router'
import { useSession, useUser } from '#api/session.tsx'
import { AccountHead, ThemeItems } from '@hedgerow/ui/account.tsx'
import { MenuOnDemand } from '@hedgerow/ui/menu-on-demand.tsx'

/** The account menu: profile, colour scheme and logout. */
export default function AccountItems({ avatar }: { avatar: ReactElement<ComponentProps<'button'>> }) {
  const user = useUser()
  const { signOut } = useSession()
  const navigate = useNavigate()
  return (
    <MenuOnDemand button={avatar} width={210}>
      <AccountHead name={user.username} detail={user.role} />
      <Menu.Divider />
      <Menu.Item onClick={() => void navigate('/profile')}>Profile</Menu.Item>
      <Menu.Item onClick={() => void navigate('/help')}>Help</Menu.Item>
      <Menu.Divider />
      <ThemeItems />
      <Menu.Divider />
      <Menu.Item onClick={() => void signOut()}>Logout</Menu.Item>
    </MenuOnDemand>
  )
}
