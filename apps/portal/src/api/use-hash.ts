import { useSyncExternalStore } from 'react'

/** The page's address from # on, which browsers send to no server; empty when there is none. */
export const useHash = (): string =>
  useSyncExternalStore(
    (onChange) => {
      window.addEventListener('hashchange', onChange)
      return () => window.removeEventListener('hashchange', onChange)
    },
    () => location.hash,
    () => '',
  )
