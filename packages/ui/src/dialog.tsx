import { Button, Modal } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useBackCloses } from './back-closes.ts'
import styles from './dialog.module.css'

/** Whether a dialog is open, how it closes, and a callback after it has faded and focus has returned. */
export type DialogLife = { opened: boolean; onClose: () => void; onGone: () => void }

/** A dialog that is open from its first render; it keeps its content while it fades. */
export function useDialogLife(onGone: () => void): DialogLife {
  const [opened, setOpened] = useState(true)
  return { opened, onClose: () => setOpened(false), onGone }
}

type DialogProps = DialogLife & {
  title: string
  size?: 'sm' | 'md' | 'lg' | 'xl' | 'full'
  /** Its content is never shown again, so neither Back nor a click beside it closes it. */
  shownOnce?: boolean
  /** It has an entry of its own in the history: Back leaves that, by the router. */
  hasEntry?: boolean
  children: ReactNode
}

const WIDTHS = { sm: 420, md: 520, lg: 680, xl: 800, full: 1180 }

/** A modal dialog: focus stays inside, Escape and Back close it, and focus returns to the element that opened it. */
export function Dialog({
  title,
  opened,
  onClose,
  onGone,
  size = 'md',
  shownOnce = false,
  hasEntry = false,
  children,
}: DialogProps) {
  const [opener] = useState(findOpener)
  useBackCloses(opened && !hasEntry, shownOnce ? stay : onClose)
  const gone = () => {
    if (focusIsLost()) {
      const target = opener?.isConnected === true ? opener : document.querySelector<HTMLElement>('main')
      target?.focus({ preventScroll: true })
    }
    onGone()
  }
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      size={WIDTHS[size]}
      centered
      lockScroll={false}
      closeOnClickOutside={!shownOnce}
      returnFocus={false}
      classNames={{
        overlay: styles.scrim ?? '',
        content: styles.content ?? '',
        title: styles.title ?? '',
        body: styles.body ?? '',
      }}
      transitionProps={{ duration: 120 }}
      onExitTransitionEnd={gone}
    >
      <Modal.Overlay color="transparent" backgroundOpacity={1} />
      <Modal.Content data-closing={!opened || undefined}>
        <div className={styles.head}>
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

const stay = () => undefined

/** Focus is not lost when the dialog has led to another screen, which has taken it. */
function focusIsLost(): boolean {
  const focused = document.activeElement
  return focused === null || focused === document.body || focused.closest('[role="dialog"]') !== null
}

/**
 * The element with focus when the dialog appears. For a menu's item, which is gone when the dialog closes, it is the
 * menu's button.
 */
function findOpener(): HTMLElement | null {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement)) return null
  const button = focused.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  return button === null || button === undefined ? focused : document.getElementById(button)
}

type DialogActionsProps = { onCancel?: () => void; focusesCancel?: boolean; children: ReactNode }

/** The row of buttons at the end of a dialog; the primary one is last. */
export function DialogActions({ onCancel, focusesCancel = false, children }: DialogActionsProps) {
  return (
    <div className={styles.actions}>
      {onCancel && (
        <Button variant="default" onClick={onCancel} data-autofocus={focusesCancel || undefined}>
          Cancel
        </Button>
      )}
      {children}
    </div>
  )
}
