import { lazy, Suspense, useState } from 'react'
import { useUser } from '#api/session.tsx'
import styles from './top-bar.module.css'

const loadItems = () => import('./account-items.tsx')
const AccountItems = lazy(loadItems)

/** The avatar and its menu, whose code loads when somebody is about to open it. */
export function AccountMenu() {
  const { username } = useUser()
  const [asked, setAsked] = useState(false)
  const avatar = (
    <button
      type="button"
      className={styles.avatar}
      aria-label={`Account of ${username}`}
      aria-haspopup="menu"
      onPointerEnter={() => void loadItems()}
      onFocus={() => void loadItems()}
      onClick={() => setAsked(true)}
    >
      <span aria-hidden="true">{username.slice(0, 1).toUpperCase()}</span>
    </button>
  )
  if (!asked) return avatar
  return (
    <Suspense fallback={avatar}>
      <AccountItems avatar={avatar} />
    </Suspense>
  )
}
