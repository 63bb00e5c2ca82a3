import { useEffect, type RefObject } from 'react'

/**
 * When a row with focus leaves a table, because its item was deleted or decided, the next Tab would start at the top of
 * the page. This moves the focus to `main` instead.
 */
export function useKeepFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = main.current
    if (element === null) return undefined
    let row: Element | null = null
    const follow = (event: FocusEvent) => {
      row = event.target instanceof Element ? event.target.closest('tr') : null
    }
    const observer = new MutationObserver(() => {
      if (row === null || row.isConnected) return
      row = null
      if (document.activeElement === document.body) element.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', follow)
    observer.observe(element, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', follow)
      observer.disconnect()
    }
  }, [main])
}
