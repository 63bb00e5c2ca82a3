import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import type { ReactElement } from 'react'
import { useNavigate } from 'react-router'
import { useSession, useUser } from '#api/session.tsx'
import styles from './top-bar.module.css'

/** The account menu: profile, colour scheme and logout. Mounted on demand, so it starts open. */
export default function AccountItems({ avatar }: { avatar: ReactElement }) {
  const user = useUser()
  const { signOut } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
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
        <div className={styles.person} role="presentation">
          <strong>{user.username}</strong>
          <span>{user.role}</span>
        </div>
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate('/profile')}>Profile</Menu.Item>
        <Menu.Divider />
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
          <Menu.RadioItem value="light">Light theme</Menu.RadioItem>
          <Menu.RadioItem value="dark">Dark theme</Menu.RadioItem>
          <Menu.RadioItem value="auto">System theme</Menu.RadioItem>
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Logout</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
