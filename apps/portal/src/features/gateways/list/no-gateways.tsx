import { Button } from '@mantine/core'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'

/** An empty fleet, with the next step for the person's role. */
export function NoGateways({ mayManage, onAdd }: { mayManage: boolean; onAdd: () => void }) {
  if (!mayManage) {
    return (
      <PanelEmpty title="No gateways yet">
        You see the gateways that you have claimed. Claim one with the device token on its page or its QR label.
      </PanelEmpty>
    )
  }
  return (
    <PanelEmpty title="No gateways yet">
      <p>The hub gives you a command to run on the device.</p>
      <Button mt={10} variant="default" size="sm" onClick={onAdd}>
        Add the first gateway
      </Button>
    </PanelEmpty>
  )
}
