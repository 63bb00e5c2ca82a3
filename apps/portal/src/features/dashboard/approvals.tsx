import { Link } from 'react-router'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { ArrowIcon } from '@hedgerow/ui/icons.tsx'
import { waitingForApproval } from './messages.ts'
import styles from './page.module.css'

/** A link to the queue while requests wait in it. */
export function Approvals() {
  const { data } = usePendingRegistrations()
  if (data === undefined || data.length === 0) return null
  return (
    <Link to="/gateway-approvals" className={styles.waiting}>
      <span className={styles.signal} aria-hidden="true" />
      {waitingForApproval(data.length)}
      <ArrowIcon />
    </Link>
  )
}
