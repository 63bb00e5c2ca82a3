/** Every call of the contract as a request about one's things: for tests that make them all. */
import { ALERT_RULE_DEFAULTS, AUTO_APPROVAL_DEFAULTS, hubSettings, type Call } from '@hedgerow/contract'
import { ofGatewayTexts } from '@hedgerow/contract/gateway-fields'
import { testHeartbeat } from './heartbeat.ts'
import type { Things } from './things.ts'

type Target = Pick<Things, 'ids' | 'gatewayName'>
export type Request = { params?: Record<string, string>; query?: Record<string, string>; body?: object }

export const PASSWORD = 'gravel-lantern-42'

/** The id in a path, by what stands before it. */
const IDS: readonly (readonly [path: string, ids: (of: Target['ids']) => Record<string, string>])[] = [
  ['/gateways/:id', ({ gateway }) => ({ id: gateway })],
  ['/gateway/:id', ({ gateway }) => ({ id: gateway })],
  ['/sites/:id', ({ site }) => ({ id: site })],
  ['/users/:id', ({ user }) => ({ id: user })],
  ['/sessions/:id', ({ session }) => ({ id: session })],
  ['/provider-links/:id', ({ providerLink }) => ({ id: providerLink })],
  ['/providers/:provider', () => ({ provider: 'first' })],
  ['/tokens/:id', ({ token }) => ({ id: token })],
  ['/saved-views/:id', ({ savedView }) => ({ id: savedView })],
  ['/push/:id', ({ push }) => ({ id: push })],
  ['/alert-rules/:id', ({ rule }) => ({ id: rule })],
  ['/alerts/:id', ({ alert }) => ({ id: alert })],
  ['/incidents/:id', ({ incident }) => ({ id: incident })],
  ['/certificates/:id', ({ certificate }) => ({ id: certificate })],
  ['/deliveries/:id', ({ delivery }) => ({ id: delivery })],
  ['/user-invitations/:id', ({ userInvitation }) => ({ id: userInvitation })],
  ['/gateway-invitations/:id', ({ gatewayInvitation }) => ({ id: gatewayInvitation })],
  ['/:registrationId', ({ registration }) => ({ registrationId: registration })],
  ['/:detectionId', ({ detection }) => ({ detectionId: detection })],
  ['/:camera', () => ({ camera: 'gate' })],
  ['/:link', ({ clipLink }) => ({ link: clipLink })],
]

let made = 0
const aName = () => `new-${++made}`
const person = () => ({
  username: aName(),
  email: 'x@example.org',
  firstName: 'A',
  lastName: 'B',
  role: 'user',
  active: true,
})
const rule = () => ({ ...ALERT_RULE_DEFAULTS, name: aName() })
const gatewayFields = () => ({ name: aName(), ...ofGatewayTexts(() => ''), tags: [] })
const profile = { email: 'x@example.org', firstName: 'A', lastName: 'B' }

/** The body or query of a call, by its name; a call without a line needs none. */
const REQUESTS: Readonly<Record<string, (of: Target) => Request>> = {
  login: () => ({ body: { username: 'nobody', password: PASSWORD } }),
  loginTwoFactor: () => ({ body: { challenge: 'none', code: '123456' } }),
  completeProviderSignIn: () => ({ body: { ticket: 'none', answer: '?' } }),
  linkProvider: () => ({ body: { link: 'none' } }),
  registerAccount: () => ({ body: { ...profile, username: aName(), password: PASSWORD, inviteCode: 'guessed' } }),
  saveProfile: () => ({ body: { ...profile, currentPassword: PASSWORD } }),
  editProfile: () => ({ body: { firstName: 'A' } }),
  changePassword: () => ({ body: { currentPassword: 'not this one', newPassword: PASSWORD } }),
  setUpTwoFactor: () => ({ body: { password: 'not this one' } }),
  enableTwoFactor: () => ({ body: { code: '123456' } }),
  disableTwoFactor: () => ({ body: { password: 'not this one', code: '123456' } }),
  renewRecoveryCodes: () => ({ body: { password: 'not this one', code: '123456' } }),
  requestPasswordReset: () => ({ body: { who: 'nobody' } }),
  completePasswordReset: () => ({ body: { token: 'guessed', newPassword: PASSWORD } }),
  createToken: () => ({ body: { name: aName(), password: 'not this one' } }),
  createUser: () => ({ body: { ...person(), password: PASSWORD } }),
  updateUser: () => ({ body: person() }),
  editUser: () => ({ body: { firstName: 'A' } }),
  createUserInvitation: () => ({ body: {} }),
  addGateway: () => ({ body: { name: aName() } }),
  tagGateways: ({ ids }) => ({ body: { ids: [ids.gateway], add: [aName()] } }),
  updateGateway: () => ({ body: gatewayFields() }),
  editGateway: () => ({ body: { name: aName() } }),
  deleteGateway: ({ gatewayName }) => ({ body: { name: gatewayName } }),
  assignSite: ({ ids }) => ({ body: { ids: [ids.gateway], siteId: ids.site } }),
  addSite: () => ({ body: { name: aName() } }),
  editSite: () => ({ body: { name: aName() } }),
  updateGateways: ({ ids }) => ({ body: { gatewayIds: [ids.gateway] } }),
  skipUpdate: ({ ids }) => ({ body: { gatewayId: ids.gateway } }),
  saveSiteUpdates: ({ ids }) => ({ body: { site: ids.site, automatic: true, hours: null } }),
  editSiteUpdates: ({ ids }) => ({ body: { site: ids.site, automatic: true } }),
  gatewayHistory: () => ({ query: { hours: '24' } }),
  readThumbnails: ({ ids }) => ({ query: { of: `${ids.gateway}/${ids.detection}` } }),
  saveView: () => ({ body: { name: aName(), filter: '' } }),
  addAlertRule: () => ({ body: rule() }),
  updateAlertRule: () => ({ body: rule() }),
  editAlertRule: () => ({ body: { name: aName() } }),
  previewAlertRule: () => ({ body: rule() }),
  editChannelSetup: () => ({ params: { name: 'ntfy' }, body: { enabled: false } }),
  saveChannelSetup: () => ({
    params: { name: 'ntfy' },
    body: { enabled: false, values: { url: 'https://ntfy.example.org/x', token: '' } },
  }),
  listAlerts: ({ ids }) => ({ query: { incident: ids.incident } }),
  saveAlertPreferences: () => ({ body: { language: 'en', quietHours: null, timeZone: 'UTC' } }),
  editAlertPreferences: () => ({ body: { language: 'en' } }),
  subscribePush: () => ({ body: {} }),
  readAlertPicture: ({ ids }) => ({ query: { token: ids.pictureLink } }),
  readAlertLink: ({ ids }) => ({ body: { token: ids.alertLink } }),
  acknowledgeByLink: ({ ids }) => ({ body: { token: ids.alertLink } }),
  listIncidents: ({ ids }) => ({ query: { gateway: ids.gateway } }),
  countIncidents: ({ ids }) => ({ query: { gateway: ids.gateway } }),
  exportIncidents: ({ ids }) => ({ query: { gateway: ids.gateway } }),
  reviewIncidents: ({ ids }) => ({ body: { ids: [ids.incident], verdict: 'right' } }),
  undoReviews: ({ ids }) => ({ body: { reviewIds: [ids.review] } }),
  fireDeterrent: () => ({ body: { deterrent: 'horn' } }),
  stopDeterrents: () => ({ body: {} }),
  snoozeGateway: () => ({ body: { lasts: '30m' } }),
  endGatewaySnooze: () => ({ body: {} }),
  maintainGateway: () => ({ body: { lasts: '30m' } }),
  undoGatewayLearning: () => ({ body: { camera: 'gate', label: 'boar' } }),
  undoGatewayNames: () => ({ body: { number: 1 } }),
  useGatewayNames: ({ ids }) => ({ body: { gateway: ids.gateway } }),
  validateAccess: ({ ids }) => ({ body: { deviceToken: ids.deviceToken } }),
  claimGateway: ({ ids }) => ({ body: { deviceToken: ids.deviceToken } }),
  challenge: () => ({ body: {} }),
  register: () => ({ body: {} }),
  rejectRegistration: () => ({ body: { reason: 'Not ours' } }),
  rejectRegistrationsOfSource: () => ({ body: { source: '198.51.100.0/24', reason: 'Not ours' } }),
  createGatewayInvitation: () => ({ body: { label: aName() } }),
  createGatewayLabels: () => ({ body: { csv: aName() } }),
  listArrivals: ({ ids }) => ({ query: { of: ids.gatewayInvitation } }),
  saveAutoApprovalSettings: () => ({ body: AUTO_APPROVAL_DEFAULTS }),
  editAutoApprovalSettings: () => ({ body: { enabled: true } }),
  testAutoApproval: () => ({ body: { ip: '192.0.2.1' } }),
  saveHubSettings: () => ({ body: hubSettings.parse({}) }),
  editHubSettings: () => ({ body: { hubName: 'Orchard' } }),
  sendHeartbeat: () => ({ body: testHeartbeat(Date.now()) }),
  reportDetections: () => ({ body: { detections: [] } }),
  reportLedger: () => ({ body: { entries: [{ id: 9, at: Date.now(), kind: 'armed' }] } }),
  readGatewayReviews: () => ({ body: { after: 0 } }),
  askSecondLook: () => ({ body: {} }),
}

/** Whether its request depends on whose thing it is about. */
export const isAboutThing = (name: string, { path }: Call) =>
  (REQUESTS[name]?.length ?? 0) > 0 || IDS.some(([part]) => path.includes(part))

export const requestOf = (name: string, call: Call, of: Target): Request => ({
  params: Object.assign({}, ...IDS.filter(([path]) => call.path.includes(path)).map(([, ids]) => ids(of.ids))),
  ...REQUESTS[name]?.(of),
})
