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
  export const hubEvents: typeof contract.hubEvents
  export const listGateways: typeof contract.listGateways
  export const addGateway: typeof contract.addGateway
  export const gatewayVpnConfig: typeof contract.gatewayVpnConfig
  export const validateAccess: typeof contract.validateAccess
  export const claimGateway: typeof contract.claimGateway
  export const gatewayUiTicket: typeof contract.gatewayUiTicket
  export const listPendingRegistrations: typeof contract.listPendingRegistrations
  export const approveRegistration: typeof contract.approveRegistration
  export const rejectRegistration: typeof contract.rejectRegistration
  export const listRejectedRegistrations: typeof contract.listRejectedRegistrations
  export const liftRejection: typeof contract.liftRejection
  export const readGateway: typeof contract.readGateway
  export const updateGateway: typeof contract.updateGateway
  export const deleteGateway: typeof contract.deleteGateway
  export const listDetections: typeof contract.listDetections
  export const readDetectionThumbnail: typeof contract.readDetectionThumbnail
  export const listGatewayInvitations: typeof contract.listGatewayInvitations
  export const createGatewayInvitation: typeof contract.createGatewayInvitation
  export const revokeGatewayInvitation: typeof contract.revokeGatewayInvitation
  export const readAutoApprovalSettings: typeof contract.readAutoApprovalSettings
  export const saveAutoApprovalSettings: typeof contract.saveAutoApprovalSettings
  export const testAutoApproval: typeof contract.testAutoApproval
  export const readHubSettings: typeof contract.readHubSettings
}
