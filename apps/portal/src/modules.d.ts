declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export default classes
}
declare module '*.css'
/** Made by scripts/contract-calls.ts: the contract's calls, of which a page holds only the method and the path. */
declare module 'virtual:contract-calls' {
  import type * as contract from '@hedgerow/contract'

  export const login: typeof contract.login
  export const loginTwoFactor: typeof contract.loginTwoFactor
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
  export const gatewayHistory: typeof contract.gatewayHistory
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
  export const saveHubSettings: typeof contract.saveHubSettings
  export const registrationInfo: typeof contract.registrationInfo
  export const registerAccount: typeof contract.registerAccount
  export const readProfile: typeof contract.readProfile
  export const saveProfile: typeof contract.saveProfile
  export const changePassword: typeof contract.changePassword
  export const listSessions: typeof contract.listSessions
  export const endSession: typeof contract.endSession
  export const setUpTwoFactor: typeof contract.setUpTwoFactor
  export const enableTwoFactor: typeof contract.enableTwoFactor
  export const disableTwoFactor: typeof contract.disableTwoFactor
  export const listUsers: typeof contract.listUsers
  export const createUser: typeof contract.createUser
  export const updateUser: typeof contract.updateUser
  export const deleteUser: typeof contract.deleteUser
  export const resetUserTwoFactor: typeof contract.resetUserTwoFactor
  export const listUserInvitations: typeof contract.listUserInvitations
  export const createUserInvitation: typeof contract.createUserInvitation
  export const revokeUserInvitation: typeof contract.revokeUserInvitation
  export const listCertificates: typeof contract.listCertificates
  export const renewCertificate: typeof contract.renewCertificate
  export const listAudit: typeof contract.listAudit
}
