import { useEffect, useRef, type ReactNode } from 'react'
import { Outlet, ScrollRestoration, useLocation } from 'react-router'
import { useKeepFocus } from './keep-focus.ts'
import { Toasts } from './toast.tsx'
import styles from './screen-frame.module.css'

/** The frame of every screen after signing in: skip link, `bar`, the screen of the route, and the toasts. */
export function ScreenFrame({ bar }: { bar: ReactNode }) {
  const main = useRef<HTMLElement>(null)
  const { pathname, hash } = useLocation()
  const shownPath = useRef(pathname)

  useKeepFocus(main)
  useEffect(() => {
    if (shownPath.current === pathname) return
    shownPath.current = pathname
    // Moves the focus to the new screen, as a page load would. Otherwise it stays on the link in the bar. With a hash
    // the screen itself moves it to the part that the hash names.
    if (hash === '') main.current?.focus({ preventScroll: true })
  }, [pathname, hash])

  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      {bar}
      <main ref={main} id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
      <ScrollRestoration />
    </>
  )
}
