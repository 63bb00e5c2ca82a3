import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { listNotices } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { showBadge } from '#api/service-worker.ts'
import { BellIcon } from '@hedgerow/ui/icons.tsx'
import styles from './notices.module.css'

const REFRESH_MS = 30_000
const loadList = () => import('./notice-list.tsx')
const NoticeList = lazy(loadList)

/** The topic `alerts` makes it stale. */
const NOTICES_KEY = ['alerts', 'notices'] as const

/** The bell: how many alerts the person has not read, and their list, whose code loads on demand. */
export function Notices() {
  const { data } = useQuery({
    queryKey: NOTICES_KEY,
    queryFn: ({ signal }) => api(listNotices, { signal }),
    refetchInterval: REFRESH_MS,
  })
  const [isOpen, setIsOpen] = useState(false)
  const unread = data?.unread ?? 0
  useEffect(() => showBadge(unread), [unread])
  return (
    <>
      <button
        type="button"
        className={styles.bell}
        aria-label={unread === 0 ? 'Notices' : `Notices, ${unread} unread`}
        aria-haspopup="dialog"
        onPointerEnter={() => void loadList()}
        onFocus={() => void loadList()}
        onClick={() => setIsOpen(true)}
      >
        <BellIcon />
        {unread > 0 && (
          <span className={styles.count} aria-hidden="true">
            {unread > 99 ? '99+' : unread}
          </span>
        )}
      </button>
      <Suspense>
        {isOpen && <NoticeList notices={data?.notices ?? []} unread={unread} onGone={() => setIsOpen(false)} />}
      </Suspense>
    </>
  )
}
