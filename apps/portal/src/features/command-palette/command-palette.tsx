/**
 * Ctrl-K or Command-K, /, or its button in the bar: finds screens, actions, settings, gateways and users. Its list
 * loads on first use.
 */
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { SearchIcon } from '@hedgerow/ui/icons.tsx'
import styles from './command-palette.module.css'

const Palette = lazy(() => import('./palette.tsx'))

const onApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

export function CommandPalette() {
  // The number of the opening, so that one may follow while the last one still fades; 0 while it is closed.
  const [opening, setOpening] = useState(0)
  const count = useRef(0)
  const open = useCallback(() => setOpening(++count.current), [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return
      // One dialog at a time: a wrong key must not close a form that is being filled in.
      if (document.querySelector('[role="dialog"]:not([data-closing])') !== null) return
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
        aria-label="Search the hub"
        aria-keyshortcuts={onApple ? 'Meta+K /' : 'Control+K /'}
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

/** `/` alone, unless somebody is typing into a field, or K with the platform's modifier key. */
function isShortcut(event: KeyboardEvent): boolean {
  if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey) {
    // A field of a dialog that fades away is not typed into.
    const fields = ':is(input, textarea, select, [contenteditable]):not([data-closing] *)'
    return !(event.target instanceof Element && event.target.matches(fields))
  }
  if (event.key.toLowerCase() !== 'k' || event.shiftKey || event.altKey) return false
  return onApple ? event.metaKey : event.ctrlKey
}
