import { PanelEmpty } from '#ui/panel-states.tsx'
import styles from './page.module.css'

/** An empty fleet: says what to run, and where. */
export function NoGateways() {
  return (
    <PanelEmpty title="No gateways yet">
      Run this on a device, with a name of your choice. It then waits under Approvals until somebody lets it in.
      <pre className={styles.command}>npm run gateway -- --hub {location.origin} --name NAME</pre>
    </PanelEmpty>
  )
}
