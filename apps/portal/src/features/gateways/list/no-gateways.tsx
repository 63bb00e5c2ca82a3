import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'

/** An empty fleet, with the next step for the person's role. */
export function NoGateways({ mayManage }: { mayManage: boolean }) {
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
      <Button mt={10} variant="default" size="sm" component={Link} to="/add-gateway">
        Add the first gateway
      </Button>
    </PanelEmpty>
  )
}
