/** Texts about an invitation. Pure. */
import type { UserInvitation } from '@hedgerow/contract'

/** An invitation's label, or a name by its role without one. */
export const labelOf = ({ label, role }: Pick<UserInvitation, 'label' | 'role'>): string =>
  label === '' ? `Invitation for a ${role}` : label

/** The link that fills in the code. After the # it stays out of the logs of servers and proxies. */
export const registrationLink = (origin: string, code: string): string =>
  `${origin}/register#invite=${encodeURIComponent(code)}`
