/** Ctrl-K or Command-K, or its button in the bar: jumps to any screen or gateway. Its list loads on first use. */
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { SearchIcon } from '@hedgerow/ui/icons.tsx'
import styles from './command-palette.module.css'

const Palette = lazy(() => import('./palette.tsx'))

const onApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

export function CommandPalette() {
  // Which opening it is, so that one may follow while the last one still fades; 0 while there is none.
  const [opening, setOpening] = useState(0)
  const count = useRef(0)
  const open = useCallback(() => setOpening(++count.current), [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || event.shiftKey || event.altKey) return
      if (onApple ? !event.metaKey : !event.ctrlKey) return
      // One dialog at a time: a form that is being filled in must not be left by a slip of the hand.
      if (document.querySelector('[role="dialog"]') !== null) return
      event.preventDefault()
      open()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [open])
  return (
    <>
      <button
        type="button"
        className={styles.button}
        aria-label="Go to a screen or gateway"
        aria-keyshortcuts={onApple ? 'Meta+K' : 'Control+K'}
        aria-haspopup="dialog"
        data-keys={onApple ? '⌘K' : 'Ctrl K'}
        onClick={open}
      >
        <SearchIcon />
      </button>
      <Suspense>
        {opening > 0 && (
          <Palette key={opening} onGone={() => setOpening((current) => (current === opening ? 0 : current))} />
        )}
      </Suspense>
    </>
  )
}
