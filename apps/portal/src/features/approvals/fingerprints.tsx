import type { PendingRegistration } from '@hedgerow/contract'
import styles from './fingerprints.module.css'

/** The device and the hub show the same two fingerprints if nobody intercepts their connection. */
export function Fingerprints({ registration }: { registration: PendingRegistration }) {
  return (
    <div className={styles.prints}>
      <p>
        Compare these with the page or the label of the device. If one differs, somebody may be intercepting the
        connection: reject the device.
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
