/** The effect of the rules, one sentence for each kind of device. Pure. */
import type { AutoApprovalSettings } from '@hedgerow/contract'

export function consequencesOf(settings: AutoApprovalSettings): string[] {
  const { enabled, autoApproveWithInvitation, requireAdminApproval, ipWhitelist, networkRanges } = settings
  if (!enabled) return ['Every device waits for a person, even with an invitation or from a listed address or network.']
  const listed = ipWhitelist.length + networkRanges.length
  const entries = listed === 1 ? 'the address or network' : `the ${listed} addresses and networks`
  return [
    'A device with a valid gateway invitation ' +
      `${autoApproveWithInvitation ? 'joins at once, from anywhere' : 'waits for a person'}.`,
    listed === 0
      ? 'No address or network is listed, so no device joins by its address.'
      : requireAdminApproval
        ? `A device from ${entries} listed below waits for a person, marked as coming from a trusted network.`
        : `A device from ${entries} listed below joins at once, without an invitation.`,
    'Every other device waits for a person.',
  ]
}
