import { deviceScreens } from './device-screens.ts'
import { peopleScreens } from './people-screens.ts'
import type { Portal } from './portal.ts'
import { admin, button, firstDay, openMenuOf, text, user, visitor, type Screen } from './screen.ts'

const tableIsThere = (portal: Portal) => portal.row('Barn').waitFor()

/**
 * Every public page, and every screen, dialog and state of the portal and of the device page. The accessibility test
 * and `npm run screenshots` both walk this list, so a new screen is added here once.
 */
export const screens: Screen[] = [
  visitor('landing', async (portal) => {
    await portal.open('/')
    await portal.page.getByRole('link', { name: 'Register' }).waitFor()
  }),
  visitor('beta', async (portal) => {
    await portal.open('/beta')
    await portal.page.getByRole('heading', { name: 'Beta Program' }).waitFor()
  }),
  visitor('sign-in', async (portal) => {
    await portal.open('/login')
    await portal.page.getByLabel('Username').waitFor()
  }),
  visitor('sign-in-empty-fields', async (portal) => {
    await portal.open('/login')
    await button(portal, 'Sign In').click()
    await text(portal, 'Enter your password')
  }),
  visitor('sign-in-wrong-password', async (portal) => {
    await portal.open('/login')
    await portal.signIn({ username: 'nobody', password: 'wrong' })
    await text(portal, 'The username or the password is wrong.')
  }),
  visitor('sign-in-expired', async (portal) => {
    await portal.open('/login')
    await portal.page.evaluate(() =>
      sessionStorage.setItem('hubSessionExpired', 'Your session has expired. Please log in again.'),
    )
    await portal.page.reload()
    await text(portal, 'Your session has expired')
  }),
  visitor('sign-in-providers', async (portal) => {
    const { origin: address } = new URL(portal.page.url())
    const providers = [
      { id: 'first', name: 'the farm' },
      { id: 'second', name: 'Contoso' },
    ]
    await portal.page.route('**/api/v1/auth/providers', (route) =>
      route.fulfill({ json: { passwords: false, address, providers } }),
    )
    await portal.open('/login')
    await button(portal, 'Use a Password').waitFor()
  }),
  visitor('sign-in-linking', async (portal) => {
    await portal.open('/login')
    await portal.page.evaluate(() => sessionStorage.setItem('hubProviderLink', 'a link'))
    await portal.page.reload()
    await button(portal, 'Do Not Link').waitFor()
  }),
  visitor('sign-in-of-another-tab', async (portal) => {
    await portal.open('/login/first?code=x&state=y')
    await text(portal, /^This sign-in began in another tab/)
  }),
  visitor('not-found', async (portal) => {
    await portal.open('/no/such/page')
    await portal.page.getByRole('link', { name: 'Back to the hub' }).waitFor()
  }),

  admin('start-up', '/gateways', async (portal) => {
    await portal.page.route('**/api/v1/auth/validate', () => new Promise(() => {}))
    await portal.page.reload()
    await portal.page.getByLabel('Loading', { exact: true }).waitFor()
  }),
  admin('dashboard', '/dashboard', async (portal) => {
    await portal.page.locator('canvas').waitFor()
    await text(portal, /potential threats detected today/)
  }),
  firstDay('dashboard-empty', '/dashboard', async (portal) => {
    await portal.page.locator('canvas').waitFor()
    await text(portal, 'No recent activity')
  }),
  admin('threats', '/threats', (portal) =>
    portal.page.getByRole('list', { name: 'Incidents' }).getByRole('img').first().waitFor(),
  ),
  admin('threats-open', '/threats', async (portal) => {
    await portal.page.getByRole('list', { name: 'Incidents' }).getByRole('button').first().click()
    await portal.dialog().getByRole('img').first().waitFor()
    await portal
      .dialog()
      .getByRole('button', { name: /^Other/ })
      .click()
    await portal.page.getByLabel('What is it?').waitFor()
  }),
  admin('threats-held-back', '/threats?learning=hidden', async (portal) => {
    await text(portal, 'hidden by learning')
    await button(portal, /^Hidden by learning 2$/).waitFor()
    await button(portal, /^Worth a second look 1$/).waitFor()
  }),
  admin('threats-selected', '/threats?learning=doubtful', async (portal) => {
    const selected = portal.page.getByRole('region', { name: 'Selected incidents' })
    await portal.page.getByRole('list', { name: 'Incidents' }).getByRole('checkbox').first().check({ force: true })
    await selected.getByText('1 selected').waitFor()
    await button(portal, 'Save this view…').click()
    await portal.page.locator('input:focus[aria-label="Name of the view"]').waitFor()
  }),
  admin('cameras', '/cameras', (portal) => portal.page.getByRole('list', { name: 'Cameras' }).waitFor()),
  admin('cameras-covered', '/cameras', (portal) =>
    // The gateway waits a minute before it believes it.
    portal.page.getByText('Camera pond: it is covered.').waitFor({ timeout: 120_000 }),
  ),
  firstDay('cameras-empty', '/cameras', (portal) => text(portal, 'No cameras yet')),
  admin('alert-rules', '/alert-rules', async (portal) => {
    await portal.page.getByRole('button', { name: 'Edit Every alert' }).waitFor()
    // On a phone it is in a row that is closed.
    await portal.page
      .getByRole('button', { name: /^Send again: /, includeHidden: true })
      .first()
      .waitFor({ state: 'attached' })
  }),
  admin('alert-rules-edit', '/alert-rules', async (portal) => {
    await portal.row('Every alert').getByRole('button', { name: 'Edit Every alert' }).click()
    await portal
      .dialog()
      .getByText(/In the last 7 days/)
      .waitFor()
  }),
  admin('alert-rules-step', '/alert-rules', async (portal) => {
    await portal.row('Every alert').getByRole('button', { name: 'Edit Every alert' }).click()
    await button(portal, 'Add a step').click()
    await portal.dialog().getByLabel('Step 1: after, minutes').waitFor()
  }),
  admin('notices', '/dashboard', async (portal) => {
    await button(portal, /^Notices/).click()
    await portal.dialog().getByRole('list', { name: 'Notices' }).waitFor()
  }),
  visitor('acknowledge-wrong-link', async (portal) => {
    await portal.open('/acknowledge#x.y.z')
    await text(portal, /^This link is not complete/)
  }),
  visitor('acknowledge-without-link', async (portal) => {
    await portal.open('/acknowledge')
    await text(portal, /^This page opens from the link in a message/)
  }),
  user('alert-rules-as-user', '/alert-rules', (portal) => text(portal, 'Your role does not allow this')),
  admin('threats-nothing-matches', '/threats?review=wrong&fired=yes', (portal) => text(portal, 'Nothing matches')),
  firstDay('threats-empty', '/threats', (portal) => text(portal, 'Nothing seen yet')),
  user('dashboard-as-user', '/dashboard', (portal) => portal.page.locator('canvas').waitFor()),

  admin('sites', '/sites', (portal) => portal.row('Lower farm').waitFor()),
  firstDay('sites-empty', '/sites', (portal) => text(portal, 'No sites yet')),
  user('sites-as-user', '/sites', (portal) => text(portal, 'No sites yet')),
  admin('sites-add', '/sites', async (portal) => {
    await button(portal, 'Add Site').click()
    await portal.dialog().getByLabel('Latitude').fill('north')
    await button(portal, 'Save Site').click()
    await text(portal, 'Enter a number')
  }),
  admin('sites-delete', '/sites', async (portal) => {
    await button(portal, 'Delete Old mill').click()
    await text(portal, '1 gateway stays, and is then in no site.')
  }),
  admin('versions', '/versions', (portal) => portal.row('Barn').waitFor()),
  user('versions-as-user', '/versions', (portal) => text(portal, 'Your role does not allow this')),
  admin('gateways', '/gateways', tableIsThere),
  firstDay('gateways-empty', '/gateways', (portal) => text(portal, 'No gateways yet')),
  user('gateways-as-user', '/gateways', (portal) => text(portal, 'No gateways yet')),
  admin('gateways-no-match', '/gateways', async (portal) => {
    await tableIsThere(portal)
    await portal.page.getByLabel('Search gateways').fill('lighthouse')
    await text(portal, 'No gateway matches')
  }),
  admin('gateways-loading', '/gateways', async (portal) => {
    await portal.page.route('**/api/v1/hub/gateways', () => new Promise(() => {}))
    await portal.page.reload()
    await portal.page.getByLabel('Loading gateways').waitFor()
  }),
  admin('gateways-error', '/gateways', async (portal) => {
    await portal.page.route('**/api/v1/hub/gateways', (route) => route.abort())
    await portal.page.reload()
    await text(portal, 'The hub does not answer')
  }),
  admin('gateways-row-menu', '/gateways', async (portal) => {
    await tableIsThere(portal)
    await openMenuOf(portal, 'Barn')
    await portal.page.getByRole('menuitem', { name: 'VPN Config' }).waitFor()
  }),
  admin('gateways-sorted-and-filtered', '/gateways?q=r&sort=-status', tableIsThere),
  admin('gateways-selected', '/gateways', async (portal) => {
    await portal.page.getByLabel('Select Barn').check()
    await text(portal, '1 selected')
  }),
  admin('gateways-edit-several', '/gateways', async (portal) => {
    await portal.page.getByLabel('Select all gateways').check()
    await button(portal, 'Edit selected').click()
    await portal.dialog().getByLabel('Location').waitFor()
  }),
  admin('gateways-tag-several', '/gateways', async (portal) => {
    await portal.page.getByLabel('Select all gateways').check()
    await button(portal, 'Tag selected').click()
    await portal.dialog().getByRole('textbox', { name: 'Tags to add' }).fill('two words, orchard')
    await portal.dialog().getByRole('textbox', { name: 'Tags to remove' }).fill('orchard')
    await button(portal, /^Tag \d/).click()
    await text(portal, '“orchard” cannot be added and removed at once')
  }),
  admin('gateways-put-in-a-site', '/gateways', async (portal) => {
    await portal.page.getByLabel('Select all gateways').check()
    await button(portal, 'Put in a site').click()
    await portal.dialog().getByLabel('Site', { exact: true }).selectOption('Lower farm')
  }),
  admin('gateways-tagged', '/gateways?tag=orchard', tableIsThere),
  admin('gateways-delete-several', '/gateways', async (portal) => {
    await portal.page.getByLabel('Select all gateways').check()
    await button(portal, 'Delete selected').click()
    await portal.dialog().getByLabel(/^Type/).waitFor()
  }),
  admin('gateways-as-cards', '/gateways?view=cards', tableIsThere),
  admin('gateways-edit-dialog', '/gateways', async (portal) => {
    await openMenuOf(portal, 'Barn')
    await portal.page.getByRole('menuitem', { name: 'Edit Gateway' }).click()
    await portal.dialog().getByLabel('Description').waitFor()
  }),
  admin('gateways-snooze-dialog', '/gateways', async (portal) => {
    await openMenuOf(portal, 'Barn')
    await portal.page.getByRole('menuitem', { name: 'Snooze…' }).click()
    await portal.dialog().getByLabel('What').waitFor()
  }),
  admin('gateways-delete-dialog', '/gateways', async (portal) => {
    await openMenuOf(portal, 'Barn')
    await portal.page.getByRole('menuitem', { name: 'Delete Gateway' }).click()
    await portal.dialog().getByLabel(/^Type/).waitFor()
  }),
  admin('gateway', '/gateways', async (portal) => {
    await portal.page.getByRole('link', { name: 'Barn' }).click()
    await text(portal, 'Connection to the hub')
    await text(portal, /FPS$/)
    await text(portal, /^Show all/)
    await portal.page.locator('canvas').nth(1).waitFor()
    await portal.page.getByText('Hour by hour').click()
  }),
  admin('gateway-camera-covered', '/gateways', async (portal) => {
    await portal.page.getByRole('link', { name: 'North orchard' }).click()
    await portal.page.getByRole('button', { name: 'Undo version 1' }).waitFor()
    // The gateway waits a minute before it believes it.
    await portal.page
      .getByText(/pond is covered/)
      .first()
      .waitFor({ timeout: 120_000 })
  }),
  admin('gateway-plain-wireguard', '/gateways', async (portal) => {
    await portal.page.getByRole('link', { name: 'Pump house' }).click()
    await text(portal, 'No heartbeat yet')
    await text(portal, 'No detections yet')
  }),
  admin('gateway-unknown', '/gateways/aaaaaaaaaaaa', (portal) => text(portal, /^This gateway does not exist/)),
  admin('command-palette', '/gateways', async (portal) => {
    await tableIsThere(portal)
    await button(portal, 'Search the hub').click()
    await portal.dialog().getByLabel('Search the hub').fill('ba')
    await portal.dialog().getByRole('link', { name: /^Barn/ }).waitFor()
  }),
  admin('reconnecting', '/gateways', async (portal) => {
    await tableIsThere(portal)
    await portal.page.route('**/api/v1/hub/events', (route) => route.abort())
    await portal.page.reload()
    await text(portal, /^No connection since/)
  }),
  admin('account-menu', '/gateways', async (portal) => {
    await button(portal, /^Account of/).click()
    await portal.page.getByRole('menuitem', { name: 'Logout' }).waitFor()
  }),

  admin('add-gateway', '/add-gateway', async (portal) => {
    await portal.page.getByText(/^Tags, owner/).click()
    await portal.page.getByLabel('Owner').waitFor()
  }),
  user('add-gateway-as-user', '/add-gateway', (portal) => text(portal, /manager role/)),
  admin('add-gateway-made', '/add-gateway', async (portal) => {
    await portal.page.getByLabel('Gateway Name').fill('Sheep fold')
    await button(portal, 'Show how').click()
    await portal.page.getByText(/^DNS lines/).click()
    await text(portal, /_hedgerow\._tcp/)
    await text(portal, 'Nothing has come yet.')
  }),
  admin('add-gateway-container', '/add-gateway', async (portal) => {
    await portal.page.getByLabel(/^Container/).check()
    await portal.page.getByLabel('Gateway Name').fill('South fields')
    await button(portal, 'Show how').click()
    await text(portal, /podman run/)
  }),
  admin('add-gateway-name-missing', '/add-gateway', async (portal) => {
    await portal.page.getByLabel(/^Only WireGuard/).check()
    await button(portal, 'Add Gateway').click()
    await text(portal, 'Enter a name')
  }),
  admin('gateway-labels', '/gateway-labels', async (portal) => {
    await portal.page.getByLabel('Lines of a spreadsheet').fill('Hen house,Hill farm\n,Mill\nFox den,,,nobody-here')
    await button(portal, 'Make Labels').click()
    await text(portal, /^Line 2: name: Enter a name/)
  }),
  admin('gateway-labels-made', '/gateway-labels', async (portal) => {
    await portal.page.getByLabel('Lines of a spreadsheet').fill('Hen house,Hill farm\nGoat shed,Mill')
    await button(portal, 'Make Labels').click()
    await portal.page.getByRole('img', { name: 'QR code of Goat shed' }).waitFor()
  }),
  admin('claim-dialog', '/gateways', async (portal) => {
    await button(portal, 'Claim Gateway').click()
    await portal.dialog().getByLabel('Device Token').waitFor()
  }),
  admin('claim-dialog-refused', '/gateways', async (portal) => {
    await portal.page.route('**/api/v1/gateway/claim', (route) => route.abort())
    await button(portal, 'Claim Gateway').click()
    await portal.dialog().getByLabel('Device Token').fill('DT-0123456789AB')
    await portal.dialog().getByRole('button', { name: 'Claim' }).click()
    await text(portal, /^Failed to claim gateway: /)
  }),
  admin('claim-dialog-scanning', '/gateways', async (portal) => {
    await portal.page.evaluate(() => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 })
      canvas.getContext('2d')?.fillRect(0, 0, 640, 480)
      navigator.mediaDevices.getUserMedia = () => Promise.resolve(canvas.captureStream(10))
    })
    await button(portal, 'Claim Gateway').click()
    await button(portal, 'Scan the label').click()
    await text(portal, 'Hold the gateway’s QR label in front of the camera.')
  }),
  admin('vpn-dialog-with-key', '/gateways', async (portal) => {
    await openMenuOf(portal, 'Pump house')
    await portal.page.getByRole('menuitem', { name: 'VPN Config' }).click()
    await portal.dialog().getByText('[Interface]').waitFor()
  }),
  admin('vpn-dialog-enrolled', '/gateways', async (portal) => {
    await openMenuOf(portal, 'Barn')
    await portal.page.getByRole('menuitem', { name: 'VPN Config' }).click()
    await portal.dialog().getByText('[Interface]').waitFor()
  }),
  admin('connect-dialog', '/gateways', async (portal) => {
    await portal.page.route('**/api/v1/gateway/validate-access', () => new Promise(() => {}))
    await button(portal, 'Connect to Barn').click()
    await text(portal, 'Checking your access')
  }),
  admin('connect-dialog-choice', '/gateways', async (portal) => {
    await button(portal, 'Connect to North orchard').click()
    await portal
      .dialog()
      .getByRole('button', { name: /^The router’s page/ })
      .waitFor()
  }),
  admin('connect-dialog-refused', '/gateways', async (portal) => {
    await portal.page.route('**/api/v1/gateway/validate-access', (route) => route.abort())
    await button(portal, 'Connect to Barn').click()
    await text(portal, /^Failed to access gateway: /)
  }),
  admin('gateway-not-opened', '/proxy/gateway/aaaaaaaaaaaa', (portal) => text(portal, 'Back to the gateways')),

  admin('approvals', '/gateway-approvals', (portal) => portal.row('River gate').waitFor()),
  admin('approvals-marked', '/gateway-approvals', async (portal) => {
    await portal.page.route('**/gateway-requests/pending', async (route) => {
      const response = await route.fetch()
      const [first, second] = (await response.json()) as object[]
      const json = [
        { ...first, keyChangeFor: 'Barn' },
        {
          ...second,
          trustedNetwork: true,
          invitation: 'Spring delivery',
          waitsFor: { code: 'gateway_limit_reached', message: 'The hub is full: 245 of 245 gateways.' },
        },
      ]
      await route.fulfill({ response, json })
    })
    await portal.page.reload()
    await text(portal, 'Key change for Barn')
  }),
  firstDay('approvals-empty', '/gateway-approvals', (portal) => text(portal, /^No Pending Requests/)),
  user('approvals-as-user', '/gateway-approvals', (portal) => text(portal, /^Managers and administrators/)),
  admin('approvals-several', '/gateway-approvals', async (portal) => {
    await portal.page.getByLabel('Select all').check()
    await button(portal, 'Approve selected').click()
    await portal.dialog().getByText('River gate').waitFor()
  }),
  admin('approvals-reject-several', '/gateway-approvals', async (portal) => {
    await portal.page.getByLabel('Select all').check()
    await button(portal, 'Reject selected').click()
    await portal.dialog().getByRole('button', { name: 'Reject 2' }).click()
    await text(portal, 'Rejection reason is required')
  }),
  admin('approvals-reject-source-dialog', '/gateway-approvals', async (portal) => {
    const json = [{ source: '198.51.100.7', waiting: 40 }]
    await portal.page.route('**/gateway-requests/sources', (route) => route.fulfill({ json }))
    await portal.page.reload()
    await button(portal, 'Reject all 40 from 198.51.100.7').click()
    await portal
      .dialog()
      .getByLabel(/reason/i)
      .waitFor()
  }),
  admin('approvals-lift-dialog', '/gateway-approvals', async (portal) => {
    await button(portal, 'Let Stray box ask again').click()
    await portal.dialog().getByRole('button', { name: 'Let it ask again' }).waitFor()
  }),
  admin('approvals-details', '/gateway-approvals', async (portal) => {
    await button(portal, 'Details River gate').click()
    await portal.dialog().getByText('Gateway fingerprint').waitFor()
  }),
  admin('approvals-approve', '/gateway-approvals', async (portal) => {
    await button(portal, 'Approve River gate').click()
    await portal.dialog().getByText('Gateway fingerprint').waitFor()
  }),
  admin('approvals-reject-without-reason', '/gateway-approvals', async (portal) => {
    await button(portal, 'Reject River gate').click()
    await portal.dialog().getByRole('button', { name: 'Reject' }).click()
    await text(portal, 'Rejection reason is required')
  }),

  firstDay('gateway-invitations-empty', '/gateway-invitations', (portal) => text(portal, 'No invitations yet')),
  user('gateway-invitations-as-user', '/gateway-invitations', (portal) => text(portal, /invite gateways\.$/)),
  admin('gateway-invitations', '/gateway-invitations', (portal) => portal.row('South fields').first().waitFor()),
  admin('gateway-invitations-revoke', '/gateway-invitations', async (portal) => {
    await button(portal, 'Revoke South fields').first().click()
    await portal.dialog().getByRole('button', { name: 'Revoke' }).waitFor()
  }),

  admin('auto-approval', '/auto-approval-settings', (portal) => text(portal, 'IP whitelist')),
  user('auto-approval-as-user', '/auto-approval-settings', (portal) => text(portal, /see the rules/)),
  admin('auto-approval-entries-wrong', '/auto-approval-settings', async (portal) => {
    await portal.page.getByLabel('IP address', { exact: true }).fill('198.51.100.300')
    await button(portal, 'Add IP address').click()
    await portal.page.getByLabel('Test IP').fill('198.51.100.7')
    await button(portal, 'Test').click()
    await text(portal, /^198\.51\.100\.7 would/)
  }),
  admin('auto-approval-unsaved', '/auto-approval-settings', async (portal) => {
    await portal.page.getByLabel('Notification email').fill('shepherd@example.net')
    await portal.navigation('Gateways').click()
    await text(portal, 'Leave without saving?')
  }),

  {
    name: 'device-page-working',
    async show(page, { barn }) {
      await page.goto(barn.pageUrl)
      await page.getByText('Heartbeat acknowledged').waitFor()
    },
  },
  {
    name: 'device-page-waiting',
    async show(page, { waiting }) {
      await page.goto(waiting.pageUrl)
      await page.getByText('has to approve this device').waitFor()
    },
  },
  ...deviceScreens,
  ...peopleScreens,
]
