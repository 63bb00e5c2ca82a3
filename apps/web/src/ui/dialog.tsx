import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './dialog.module.css'

type DialogProps = {
  title: string
  onClose: () => void
  opened: boolean
  size?: 'sm' | 'md' | 'lg'
  children: ReactNode
  /** Called once it has gone, with focus back where it was. */
  onGone?: () => void
}

const WIDTHS = { sm: 420, md: 520, lg: 680 }

/** A modal dialog: focus stays inside, Escape closes it, and focus returns to what opened it. */
export function Dialog({ title, onClose, opened, size = 'md', children, onGone }: DialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={WIDTHS[size]}
      centered
      lockScroll={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
      overlayProps={{ color: 'transparent', backgroundOpacity: 1, className: styles.scrim ?? '' }}
      classNames={{
        content: styles.content ?? '',
        header: styles.header ?? '',
        title: styles.title ?? '',
        body: styles.body ?? '',
      }}
      transitionProps={{ duration: 120 }}
      {...(onGone === undefined ? {} : { onExitTransitionEnd: onGone })}
    >
      {children}
    </Modal>
  )
}

/** The row of buttons that ends a dialog, the deciding one last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}
