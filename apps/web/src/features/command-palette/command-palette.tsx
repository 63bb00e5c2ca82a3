/** Ctrl-K or Command-K, or its button in the bar: jumps to any screen or gateway. Its list loads on first use. */
import { lazy, Suspense, useEffect, useState } from 'react'
import { SearchIcon } from '#ui/icons.tsx'
import styles from './command-palette.module.css'

const Palette = lazy(() => import('./palette.tsx'))

const onApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

export function CommandPalette() {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || event.shiftKey || event.altKey) return
      if (onApple ? !event.metaKey : !event.ctrlKey) return
      // One dialog at a time: a form that is being filled in must not be left by a slip of the hand.
      if (document.querySelector('[role="dialog"]') !== null) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button
        type="button"
        className={styles.button}
        aria-label="Go to a screen or gateway"
        aria-keyshortcuts={onApple ? 'Meta+K' : 'Control+K'}
        aria-haspopup="dialog"
        data-keys={onApple ? '⌘K' : 'Ctrl K'}
        onClick={() => setOpen(true)}
      >
        <SearchIcon />
      </button>
      <Suspense>{open && <Palette onGone={() => setOpen(false)} />}</Suspense>
    </>
  )
}
