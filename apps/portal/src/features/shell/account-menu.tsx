import { lazy, Suspense, useState } from 'react'
import { useUser } from '#api/session.tsx'
import { AccountButton } from '@hedgerow/ui/account-button.tsx'

const loadItems = () => import('./account-items.tsx')
const AccountItems = lazy(loadItems)

/** The avatar and its menu, whose code loads when somebody is about to open it. */
export function AccountMenu() {
  const { username } = useUser()
  const [isRequested, setRequested] = useState(false)
  const avatar = (
    <AccountButton
      name={username}
      onPointerEnter={() => void loadItems()}
      onFocus={() => void loadItems()}
      onClick={() => setRequested(true)}
    />
  )
  if (!isRequested) return avatar
  return (
    <Suspense fallback={avatar}>
      <AccountItems avatar={avatar} />
    </Suspense>
  )
}
