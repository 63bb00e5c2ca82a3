/** The first tasks of an administrator on a new hub. Pure. */
export type Hub = {
  gateways: number
  users: number
  hubName: string
  notificationEmail: string
}

export type Step = { name: string; path: string; done: boolean }

/** A larger fleet is no longer new, whatever steps are open. */
const NEW_UNTIL_GATEWAYS = 5

/** The steps of a new hub; none when all are done, or the hub is in use. */
export function firstSteps({ gateways, users, hubName, notificationEmail }: Hub): readonly Step[] {
  const steps = [
    { name: 'Add the first gateway', path: '/add-gateway', done: gateways > 0 },
    { name: 'Give the hub a name', path: '/settings#hubName', done: hubName !== '' },
    { name: 'Choose who is notified', path: '/auto-approval-settings', done: notificationEmail !== '' },
    { name: 'Invite the people who use it', path: '/users?do=invite', done: users > 1 },
  ]
  return gateways > NEW_UNTIL_GATEWAYS || steps.every(({ done }) => done) ? [] : steps
}
