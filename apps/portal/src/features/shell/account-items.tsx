import { Menu } from '@mantine/core'
import type { ComponentProps, ReactElement } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useSession, useUser } from '#api/session.tsx'
import { AccountHead, ThemeItems } from '@hedgerow/ui/account.tsx'
import { MenuOnDemand } from '@hedgerow/ui/menu-on-demand.tsx'
import { screenAt } from '#parts/screens.ts'

/** The account menu: profile, help about this screen, colour scheme and logout. */
export default function AccountItems({ avatar }: { avatar: ReactElement<ComponentProps<'button'>> }) {
  const user = useUser()
  const { signOut } = useSession()
  const navigate = useNavigate()
  const page = screenAt(useLocation().pathname)?.help
  return (
    <MenuOnDemand button={avatar} width={210}>
      <AccountHead name={user.username} detail={user.role} />
      <Menu.Divider />
      <Menu.Item onClick={() => void navigate('/profile')}>Profile</Menu.Item>
      <Menu.Item onClick={() => void navigate(page === undefined ? '/help' : `/help/${page}`)}>Help</Menu.Item>
      <Menu.Divider />
      <ThemeItems />
      <Menu.Divider />
      <Menu.Item onClick={() => void signOut()}>Logout</Menu.Item>
    </MenuOnDemand>
  )
}
