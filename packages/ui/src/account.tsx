/** The items of the account menu. An import of this file loads Mantine's menu too. */
import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import styles from './account.module.css'

export function AccountHead({ name, detail }: { name: string; detail: string }) {
  return (
    <div className={styles.person} role="presentation">
      <strong>{name}</strong>
      <span>{detail}</span>
    </div>
  )
}

export function ThemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
      <Menu.RadioItem value="light">Light theme</Menu.RadioItem>
      <Menu.RadioItem value="dark">Dark theme</Menu.RadioItem>
      <Menu.RadioItem value="auto">System theme</Menu.RadioItem>
    </Menu.RadioGroup>
  )
}
