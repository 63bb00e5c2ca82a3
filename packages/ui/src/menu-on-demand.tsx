/** An import of this file loads Mantine's menu too. */
import { Menu } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { cloneElement, useState, type ComponentProps, type ReactElement, type ReactNode } from 'react'

type MenuOnDemandProps = {
  /** Takes the place, and the focus, of the one that was pressed before the menu's code was there. */
  button: ReactElement<ComponentProps<'button'>>
  width: number
  children: ReactNode
}

/** A menu that is mounted when somebody opens it. */
export function MenuOnDemand({ button, width, children }: MenuOnDemandProps) {
  const [closed, setClosed] = useState(false)
  // Not open in its first render: then it would not know which element to give the focus back to.
  const opened = useMounted() && !closed
  return (
    <Menu
      opened={opened}
      onChange={(isOpen) => setClosed(!isOpen)}
      position="bottom-end"
      width={width}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 100 }}
    >
      <Menu.Target>{cloneElement(button, { autoFocus: true })}</Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
