import { CommandLine } from '@hedgerow/ui/command-line.tsx'
import { Forgotten } from '@hedgerow/ui/forgotten.tsx'

/** How the person at the device gets a new password. Nobody can read the old one: the device keeps its hash only. */
export function ForgotPassword() {
  return (
    <Forgotten>
      <p>Run this on the device. It prints a new password once, and the old one ends.</p>
      <CommandLine>sudo hedgerow-gateway password</CommandLine>
      <p>In a container named gateway:</p>
      <CommandLine>podman exec gateway hedgerow-gateway password</CommandLine>
      <p>In the folder of the sources:</p>
      <CommandLine>npm run gateway -- password</CommandLine>
    </Forgotten>
  )
}
