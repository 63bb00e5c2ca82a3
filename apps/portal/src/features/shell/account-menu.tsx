import { lazy, Suspense, useState } from 'react'
import { useUser } from '#api/session.tsx'
import { AccountButton } from '@hedgerow/ui/account-button.tsx'

const loadItems = () => import('./account-items.tsx')
const AccountItems = lazy(loadItems)

/** The avatar and its menu, whose code loads when somebody is about to open it. */
export function AccountMenu() {
  const { username } = useUser()
  const [asked, setAsked] = useState(false)
  const avatar = (
    <AccountButton
      name={username}
      onPointerEnter={() => void loadItems()}
      onFocus={() => void loadItems()}
      onClick={() => setAsked(true)}
    />
  )
  if (!asked) return avatar
  return (
    <Suspense fallback={avatar}>
      <AccountItems avatar={avatar} />
    </Suspense>
  )
}
