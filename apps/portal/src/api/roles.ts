import type { Role } from '@hedgerow/contract'

/** Managers and administrators run the fleet; the hub enforces the same. */
export const mayManageFleet = (role: Role): boolean => role === 'manager' || role === 'admin'

export const MANAGER_NEEDED = 'This needs the manager role.'
export const ADMIN_NEEDED = 'This needs the admin role.'
