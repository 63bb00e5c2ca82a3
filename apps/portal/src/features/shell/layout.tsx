/**
 * The frame of every signed-in screen: skip link, top bar, the screen, and the toasts. It knows no screen and only
 * links to them.
 */
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Outlet, ScrollRestoration, useLocation } from 'react-router'
import { createQueryClient } from '#api/query-client.ts'
import { useKeepFocus } from '@hedgerow/ui/keep-focus.ts'
import { Toasts } from '@hedgerow/ui/toast.tsx'
import { TopBar } from './top-bar.tsx'
import styles from './layout.module.css'

/** `tools` stand in the top bar beside the account. */
export function Layout({ tools }: { tools: ReactNode }) {
  const [queries] = useState(createQueryClient)
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
    <QueryClientProvider client={queries}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <TopBar tools={tools} />
      <main ref={main} id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
      <ScrollRestoration />
    </QueryClientProvider>
  )
}
