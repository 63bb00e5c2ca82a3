/** The screens about people and about the hub as a whole: accounts, users, settings, the audit log. */
import type { Page } from 'playwright-core'
import type { Credentials } from './hub.ts'
import type { Portal } from './portal.ts'
import { admin, button, firstDay, openMenuOf, text, user, visitor, type Screen } from './screen.ts'
import type { Showcase } from './showcase.ts'

const showsOnly = async (page: Page, path: string, body: object) =>
  page.route(path, (route) => route.fulfill({ json: body }))
/** An asterisk follows the label of a required field. */
const labelled = (label: string) => new RegExp(`^${label}( \\*)?$`)
const field = (portal: Portal, label: string) => portal.page.getByLabel(labelled(label))
const inDialog = (portal: Portal, label: string) => portal.dialog().getByLabel(labelled(label))
/** The setup's first step asks for the password again. */
const passPassword = async (portal: Portal, { password }: Credentials) => {
  // The profile's panel has that name too.
  await portal.page.locator('input').and(field(portal, 'Password')).last().fill(password)
  await button(portal, 'Continue').click()
}
const openSetup = async (portal: Portal, { visitorOfFarm }: Showcase) => {
  await button(portal, 'Set Up Two-Factor').click()
  await passPassword(portal, visitorOfFarm)
  await portal.dialog().getByRole('img', { name: 'QR code for an authenticator app' }).waitFor()
}

export const peopleScreens: Screen[] = [
  visitor('sign-in-code', async (portal, { guarded }) => {
    await portal.open('/login')
    await portal.signIn(guarded)
    await field(portal, 'Code').waitFor()
  }),
  visitor('register', async (portal) => {
    await portal.open('/register')
    await field(portal, 'Invite code').waitFor()
  }),
  visitor('register-empty-fields', async (portal) => {
    await portal.open('/register')
    await button(portal, 'Create Account').click()
    await text(portal, 'Invite code is required')
  }),
  visitor('register-closed', async (portal) => {
    await showsOnly(portal.page, '**/api/v1/auth/registration-info', {
      openRegistration: false,
      inviteCodeRequired: true,
    })
    await portal.open('/register')
    await text(portal, /^Registration is closed/)
  }),
  visitor(
    'register-done',
    async (portal) => {
      await portal.page.clock.install()
      await showsOnly(portal.page, '**/api/v1/auth/register', { username: 'rosa', role: 'user' })
      await portal.open('/register#invite=ABCD-EFGH-JKMN-PQRS')
      await field(portal, 'First name').fill('Rosa')
      await field(portal, 'Last name').fill('Lind')
      await field(portal, 'Username').fill('rosa')
      await field(portal, 'Email').fill('rosa@example.org')
      await field(portal, 'Password').fill('four foxes in fog')
      await field(portal, 'Confirm password').fill('four foxes in fog')
      await button(portal, 'Create Account').click()
      await text(portal, 'Registration successful! You can now log in.')
    },
    { spoilsPage: true },
  ),
  visitor('forgot-password', async (portal) => {
    await portal.open('/forgot-password')
    await button(portal, 'Send the Link').click()
    await text(portal, 'Enter your username or your email address')
  }),
  visitor('forgot-password-sent', async (portal) => {
    await portal.page.route('**/api/v1/auth/password-reset', (route) => route.fulfill({ status: 204 }))
    await portal.open('/forgot-password')
    await field(portal, 'Username or email').fill('rosa')
    await button(portal, 'Send the Link').click()
    await text(portal, 'Look into your mailbox.')
  }),
  visitor('reset-password', async (portal) => {
    await portal.open('/reset-password#a-token')
    await field(portal, 'New password').fill('four foxes in fog')
    await button(portal, 'Set Password').click()
    await text(portal, /^This link was used already/)
  }),
  visitor('reset-password-without-link', async (portal) => {
    await portal.open('/reset-password')
    await text(portal, 'This page opens from the link in a mail.')
  }),
  visitor('must-set-up-two-factor', async (portal, { visitorOfFarm }) => {
    await portal.page.route('**/api/v1/auth/login', async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { user: object }
      await route.fulfill({ response, json: { ...answer, user: { ...answer.user, mustSetUpTwoFactor: true } } })
    })
    await portal.open('/login')
    await portal.signIn(visitorOfFarm)
    await portal.page.getByRole('heading', { name: 'Set up two-factor' }).waitFor()
    await passPassword(portal, visitorOfFarm)
    await portal.page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor()
  }),

  admin('users', '/users', (portal) => portal.row('Rosa Lind').waitFor()),
  user('users-as-user', '/users', (portal) => text(portal, /^Managers and administrators see the users/)),
  admin('users-error', '/users', async (portal) => {
    await portal.page.route('**/api/v1/hub/users', (route) => route.abort())
    await portal.page.reload()
    await text(portal, 'The hub does not answer')
  }),
  admin('users-row-menu', '/users', async (portal) => {
    await openMenuOf(portal, 'rosa.lind')
    await portal.page.getByRole('menuitem', { name: 'Delete User' }).waitFor()
  }),
  admin('users-last-admin-menu', '/users', async (portal) => {
    await openMenuOf(portal, 'admin')
    await text(portal, 'The hub needs an active admin, and this is the last one.')
  }),
  admin('user-add-dialog', '/users', async (portal) => {
    await button(portal, 'Add User').click()
    await inDialog(portal, 'Password').waitFor()
  }),
  admin('user-add-dialog-empty-fields', '/users', async (portal) => {
    await button(portal, 'Add User').click()
    await portal.dialog().getByRole('button', { name: 'Add User' }).click()
    await text(portal, 'Password must be at least 8 characters long')
  }),
  admin('user-edit-dialog', '/users', async (portal) => {
    await openMenuOf(portal, 'rosa.lind')
    await portal.page.getByRole('menuitem', { name: 'Edit User' }).click()
    await inDialog(portal, 'Role').selectOption('admin')
    await text(portal, 'Saving signs rosa.lind out everywhere')
  }),
  admin('user-edit-dialog-last-admin', '/users', async (portal) => {
    await openMenuOf(portal, 'admin')
    await portal.page.getByRole('menuitem', { name: 'Edit User' }).click()
    await text(portal, 'This is the last active admin')
  }),
  admin('user-deactivate-dialog', '/users', async (portal) => {
    await openMenuOf(portal, 'rosa.lind')
    await portal.page.getByRole('menuitem', { name: 'Deactivate User' }).click()
    await portal.dialog().getByRole('button', { name: 'Deactivate User' }).waitFor()
  }),
  admin('user-delete-dialog', '/users', async (portal) => {
    await openMenuOf(portal, 'rosa.lind')
    await portal.page.getByRole('menuitem', { name: 'Delete User' }).click()
    await portal.dialog().getByRole('button', { name: 'Delete User' }).waitFor()
  }),
  admin('user-reset-two-factor-dialog', '/users', async (portal) => {
    await openMenuOf(portal, 'rosa.lind')
    await portal.page.getByRole('menuitem', { name: 'Reset Two-Factor' }).click()
    await portal.dialog().getByRole('button', { name: 'Cancel' }).waitFor()
  }),
  admin('user-invitation-revoke-dialog', '/users', async (portal) => {
    await button(portal, 'Revoke Spring helpers').click()
    await portal.dialog().getByRole('button', { name: 'Revoke' }).waitFor()
  }),
  admin('user-invite-by-mail', '/users', async (portal) => {
    await portal.page.route('**/api/v1/admin/notifications', async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { channels: object }
      await route.fulfill({ response, json: { ...answer, channels: { ...answer.channels, person: true } } })
    })
    await button(portal, 'Invite').click()
    await inDialog(portal, 'Send to').fill('rosa')
    await portal.dialog().getByRole('button', { name: 'Create Invitation' }).click()
    await text(portal, /^Enter an email address such as/)
  }),
  admin('user-invite-dialog', '/users', async (portal) => {
    await button(portal, 'Invite').click()
    await inDialog(portal, 'Label').waitFor()
  }),
  firstDay('user-invitation-made', '/users', async (portal) => {
    await button(portal, 'Invite').click()
    await portal.dialog().getByRole('button', { name: 'Create Invitation' }).click()
    await text(portal, 'the hub keeps only a hash of it')
  }),

  ...(['general', 'security', 'network'] as const).map((tab) =>
    admin(`settings-${tab}`, `/settings?tab=${tab}`, (portal) => button(portal, 'Save Settings').waitFor()),
  ),
  admin('help', '/help', (portal) => text(portal, 'Versions and support')),
  admin('help-page', '/help/containers#kubernetes', (portal) => text(portal, 'Behind Caddy')),
  admin('help-found', '/help?q=reverse+proxy', (portal) => text(portal, /Behind a reverse proxy/)),
  admin('help-unknown', '/help/none', (portal) => text(portal, 'There is no such page')),
  admin('settings-vpn-off', '/settings?tab=network', async (portal) => {
    await portal.page.getByRole('switch', { name: /^VPN/ }).press('Space')
    await button(portal, 'Save Settings').click()
    await portal.dialog().getByLabel(/^Type/).waitFor()
  }),
  admin('settings-wrong', '/settings', async (portal) => {
    await field(portal, 'Maximum number of gateways').fill('many')
    await button(portal, 'Save Settings').click()
    await text(portal, 'Enter a whole number from 1 to 100,000')
  }),
  admin('settings-saved', '/settings', async (portal) => {
    await button(portal, 'Save Settings').click()
    await text(portal, 'Settings saved successfully')
  }),
  admin('settings-unsaved', '/settings', async (portal) => {
    await field(portal, 'Hub name').fill('Old mill')
    await portal.navigation('Dashboard').click()
    await portal.dialog().getByRole('button', { name: 'Stay' }).waitFor()
  }),
  user('settings-as-user', '/settings?tab=security', (portal) => text(portal, 'Everybody sees these settings.')),
  admin('settings-certificates', '/settings?tab=certificates', (portal) => button(portal, 'Renew Hub CA').waitFor()),
  admin('settings-certificates-expiring', '/settings?tab=certificates', async (portal) => {
    await portal.page.route('**/api/v1/hub/certificates', async (route) => {
      // As browsers do, when the hub ends an idle connection at that moment.
      const response = await route.fetch({ maxRetries: 1 })
      const [first, second] = (await response.json()) as object[]
      const inDays = (days: number) => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString()
      await route.fulfill({
        response,
        json: [
          { ...first, expiresAt: inDays(12) },
          { ...second, expiresAt: inDays(-3) },
        ],
      })
    })
    await portal.page.reload()
    await text(portal, '12 days left')
  }),
  admin('certificate-renew-dialog', '/settings?tab=certificates', async (portal) => {
    await button(portal, 'Renew Hub CA').click()
    await portal.dialog().getByText('Fingerprint now').waitFor()
  }),
  admin('audit', '/settings?tab=audit', (portal) => portal.page.getByRole('row').nth(1).waitFor()),
  admin('audit-no-match', '/settings?tab=audit', async (portal) => {
    await field(portal, 'Search the audit log').fill('lighthouse')
    await text(portal, 'No entry matches')
  }),
  user('audit-as-user', '/settings?tab=audit', (portal) =>
    text(portal, 'Managers and administrators see who did what.'),
  ),

  admin('profile', '/profile', async (portal) => {
    await field(portal, 'First name').waitFor()
    await text(portal, 'this one')
  }),
  admin('profile-tokens', '/profile', async (portal) => {
    const now = Date.now()
    const at = (days: number) => new Date(now + days * 86_400_000).toISOString()
    const of = { role: 'admin', createdAt: at(-3), lastUsedAt: at(-1) }
    await showsOnly(portal.page, '**/api/v1/auth/tokens', [
      { ...of, id: 'a', name: 'nightly backup', access: 'read', expiresAt: at(87) },
      { ...of, id: 'b', name: 'Node-RED', access: 'all', expiresAt: at(4), lastUsedAt: null },
    ])
    await portal.page.reload()
    await button(portal, 'Revoke Node-RED').waitFor()
  }),
  user('token-make-dialog', '/profile', async (portal) => {
    await button(portal, 'Make a Token').click()
    await portal.dialog().getByRole('button', { name: 'Make Token' }).click()
    await text(portal, 'Enter a name')
  }),
  user('token-made', '/profile', async (portal, { visitorOfFarm }) => {
    const details = { id: 'a', name: 'backup', role: 'user', access: 'read', lastUsedAt: null }
    const times = { createdAt: new Date().toISOString(), expiresAt: new Date().toISOString() }
    const json = { token: 'hgr_q7Zk2mP9xT4vB8nR1cW6yL3dF5hJ0sAe2Kd9', details: { ...details, ...times } }
    await portal.page.route('**/api/v1/auth/tokens', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ json }) : route.fallback(),
    )
    await button(portal, 'Make a Token').click()
    await inDialog(portal, 'Name').fill('backup')
    await inDialog(portal, 'Your password').fill(visitorOfFarm.password)
    await portal.dialog().getByRole('button', { name: 'Make Token' }).click()
    await text(portal, 'the hub keeps only a hash of it')
  }),
  user('profile-wrong-password', '/profile', async (portal) => {
    await field(portal, 'New password').fill('short')
    await button(portal, 'Change Password').click()
    await text(portal, 'Password must be at least 8 characters long')
  }),
  user('two-factor-off-dialog', '/profile', async (portal) => {
    await portal.page.route('**/api/v1/auth/profile', async (route) => {
      const response = await route.fetch()
      const profile = (await response.json()) as object
      await route.fulfill({ response, json: { ...profile, twoFactorEnabled: true, recoveryCodesLeft: 2 } })
    })
    await portal.page.reload()
    await text(portal, 'Few recovery codes are left.')
    await button(portal, 'Switch Off').click()
    await inDialog(portal, 'Code').waitFor()
  }),
  user('two-factor-setup', '/profile', openSetup),
  user('two-factor-recovery-codes', '/profile', async (portal, showcase) => {
    const recoveryCodes = Array.from({ length: 10 }, (_, index) => `A7KM-2RXP-9D4T-0${index}QZ`)
    await showsOnly(portal.page, '**/api/v1/auth/two-factor/enable', { recoveryCodes })
    await openSetup(portal, showcase)
    await inDialog(portal, 'Code').fill('123456')
    await button(portal, 'Switch Two-Factor On').click()
    await text(portal, 'Keep these recovery codes somewhere safe')
  }),
]
