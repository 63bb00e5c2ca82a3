declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export default classes
}
declare module '*.css'
/** Made by scripts/contract-calls.ts: the contract's calls, of which a page holds only the method and the path. */
declare module 'virtual:contract-calls' {
  import type * as contract from '@hedgerow/contract'

  export const login: typeof contract.login
  export const logout: typeof contract.logout
  export const validateSession: typeof contract.validateSession
  export const renewSession: typeof contract.renewSession
  export const hubStats: typeof contract.hubStats
  export const recentActivity: typeof contract.recentActivity
  export const hubTimeline: typeof contract.hubTimeline
  export const listGateways: typeof contract.listGateways
  export const addGateway: typeof contract.addGateway
  export const gatewayVpnConfig: typeof contract.gatewayVpnConfig
  export const validateAccess: typeof contract.validateAccess
  export const claimGateway: typeof contract.claimGateway
  export const gatewayUiTicket: typeof contract.gatewayUiTicket
  export const listPendingRegistrations: typeof contract.listPendingRegistrations
  export const approveRegistration: typeof contract.approveRegistration
  export const rejectRegistration: typeof contract.rejectRegistration
}
