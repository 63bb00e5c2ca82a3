import type { PendingRegistration } from '@hedgerow/contract'
import styles from './fingerprints.module.css'

/** What proves that nobody stands between the device and the hub: both show the same two lines. */
export function Fingerprints({ registration }: { registration: PendingRegistration }) {
  return (
    <div className={styles.prints}>
      <p>
        Compare these with the page or the label of the device. If either differs, somebody is in between: reject it.
      </p>
      <dl>
        <dt>Gateway fingerprint</dt>
        <dd>{registration.fingerprint}</dd>
        <dt>Hub fingerprint</dt>
        <dd>{registration.hubFingerprint}</dd>
      </dl>
    </div>
  )
}
