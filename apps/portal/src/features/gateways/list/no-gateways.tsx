import { addressForDevices } from '#api/hub-address.ts'
import { CommandLine } from '@hedgerow/ui/command-line.tsx'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import styles from '../page.module.css'

/** An empty fleet, with the next step for the person's role. */
export function NoGateways({ mayManage }: { mayManage: boolean }) {
  if (!mayManage) {
    return (
      <PanelEmpty title="No gateways yet">
        You see the gateways that you have claimed. Claim one with the device token on its page or its QR label.
      </PanelEmpty>
    )
  }
  const command = `npm run gateway -- --hub ${location.origin} --name NAME`
  const caution = addressForDevices(location.origin)
  return (
    <PanelEmpty title="No gateways yet">
      Run this in Hedgerow’s folder on a device, with a name of your choice. The device then waits under Approvals until
      somebody approves it.
      <div className={styles.first}>
        <CommandLine>{command}</CommandLine>
        <CopyButton text={command}>Copy command</CopyButton>
      </div>
      {caution}
    </PanelEmpty>
  )
}
