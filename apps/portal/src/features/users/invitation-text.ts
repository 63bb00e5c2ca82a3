/** Words about an invitation. Pure. */
import type { UserInvitation } from '@hedgerow/contract'

/** An invitation without a label is told apart by whom it makes. */
export const labelOf = ({ label, role }: Pick<UserInvitation, 'label' | 'role'>): string =>
  label === '' ? `Invitation for a ${role}` : label

/** The link that fills in the code; behind the # it stays out of the logs of whatever stands between. */
export const registrationLink = (origin: string, code: string): string =>
  `${origin}/register#invite=${encodeURIComponent(code)}`
