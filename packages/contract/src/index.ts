/**
 * Every HTTP message between the hub, the portal and the gateways: one zod schema each, the closed list of error
 * codes, and the constants that more than one program needs. Only zod is imported here, so a browser can load it.
 */
export * from './accounts.ts'
export * from './activity.ts'
export * from './audit.ts'
export * from './auto-approval.ts'
export * from './call.ts'
export * from './certificates.ts'
export * from './constants.ts'
export * from './errors.ts'
export * from './events.ts'
export * from './fields.ts'
export * from './gateway-invitations.ts'
export * from './gateway-ui.ts'
export * from './gateways.ts'
export * from './heartbeats.ts'
export * from './lists.ts'
export * from './notifications.ts'
export * from './registrations.ts'
export * from './settings.ts'
export * from './user-invitations.ts'
export * from './users.ts'
