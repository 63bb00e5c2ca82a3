import { useMemo } from 'react'
import { Link } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { unprotected } from '#parts/protection.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { allProtected } from './messages.ts'
import styles from './page.module.css'

/** How many gateways are not protected, with a link to exactly these; or that all are. */
export function NotProtected() {
  const gateways = useGateways().data
  const told = useMemo(() => unprotected((gateways ?? []).map(({ protection }) => protection)), [gateways])
  if (!told) {
    if (gateways === undefined || gateways.length === 0) return null
    return <Notice tone="good">{allProtected(gateways.length)}</Notice>
  }
  return (
    <Notice tone={told.tone}>
      <Link to="/gateways?protection=not" className={styles.banner}>
        {told.words}
      </Link>
    </Notice>
  )
}
