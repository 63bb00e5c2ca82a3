import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { useSession, useUser } from '#api/session.tsx'
import styles from './top-bar.module.css'

/** The avatar and its menu: who is signed in, the colour scheme, and the way out. */
export function AccountMenu() {
  const user = useUser()
  const { signOut } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu
      position="bottom-end"
      width={210}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 100 }}
    >
      <Menu.Target>
        <button type="button" className={styles.avatar} aria-label={`Account of ${user.username}`}>
          <span aria-hidden="true">{user.username.slice(0, 1).toUpperCase()}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.person} role="presentation">
          <strong>{user.username}</strong>
          <span>{user.role}</span>
        </div>
        <Menu.Divider />
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
          <Menu.RadioItem value="light">Light theme</Menu.RadioItem>
          <Menu.RadioItem value="dark">Dark theme</Menu.RadioItem>
          <Menu.RadioItem value="auto">As the system</Menu.RadioItem>
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Logout</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
