/** The parts of the menu of the person who is signed in. */
import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import type { ComponentProps } from 'react'
import styles from './account.module.css'

/** The round button that opens the menu. */
export function AccountButton({ name, ...props }: { name: string } & ComponentProps<'button'>) {
  return (
    <button type="button" {...props} className={styles.avatar} aria-label={`Account of ${name}`} aria-haspopup="menu">
      <span aria-hidden="true">{name.slice(0, 1).toUpperCase()}</span>
    </button>
  )
}

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
