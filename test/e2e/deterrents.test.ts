import { readGateway } from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { writeLearned } from '../../apps/gateway/testing/learned-file.ts'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { approveNext } from '../harness/approval.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let relay: Relay
let gateway: TestGateway
let id: string

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
})
afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})
// A gateway of its own for each test, because it keeps what it fired and to which version it went back.
beforeEach(async () => {
  relay = await startRelay()
  onTestFinished(() => relay.stop())
  const limits = { seconds: 600, secondsAnHour: 3_600, coolDownSeconds: 0 }
  const sprinkler = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, ...limits }
  gateway = await startGateway(hub, {
    name: 'Orchard',
    file: { deterrents: { sprinkler } },
    before: (dataDir) => writeLearned(dataDir, 'gate', Date.now()),
  })
  onTestFinished(() => gateway.stop())
  await approveNext(hub)
  id = await waitFor(() => gateway.state().gatewayId, { for: 'the approval' })
  await waitFor(
    async () => (await hub.api(readGateway, { params: { id } })).heartbeat?.deterrents[0]?.state === 'ready',
    { for: 'the sprinkler' },
  )
  // Nothing fires where no camera looks.
  await gateway.localApi.patchStatus({ cameras: [{ name: 'gate', state: 'online', fps: 5 }] })
})

test('a deterrent goes on when its test is held, not when it is clicked, and off at Stop', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open(`/gateways/${id}`)
  await portal.signIn(hub.admin)
  const hold = page.getByRole('button', { name: 'Hold to test' })
  await hold.click()
  expect(relay.calls).not.toContain('on')
  // A panel above that loads late moves the button away from the pointer, which ends the hold: then hold again. A hold
  // fires once, even if the pointer stays down.
  const fired = page.getByText(/sprinkler fired for 600 s by/)
  const firesWhenHeld = async () => {
    await hold.hover({ timeout: 10_000 })
    await page.mouse.down()
    await fired.waitFor({ timeout: 10_000 }).finally(() => page.mouse.up())
    return true
  }
  await waitFor(firesWhenHeld, { for: 'the firing of a test that is held', timeoutMs: 60_000 })
  expect(relay.isOn()).toBe(true)
  await page.getByRole('button', { name: 'Stop Orchard', exact: true }).click()
  await waitFor(() => !relay.isOn(), { for: 'the water to stop' })
  await person.close()
})

test('what the gateway learned is shown with its nights and versions, and a manager goes back to one', async () => {
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open(`/gateways/${id}`)
  await portal.signIn(hub.admin)
  await page.getByRole('img', { name: /9 false alarms/ }).waitFor()
  const version = (number: number) => page.getByRole('listitem').filter({ hasText: `Version ${number}` })
  await version(2).getByText('active').waitFor()
  await page.getByText('Accept or dismiss it in the gateway’s own interface').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Go back to version 1' }).click()
  await portal.dialog().getByRole('button', { name: 'Go back' }).click()
  await version(1).getByText('active').waitFor()
  await version(2).getByText('active').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Switch off' }).waitFor()
  await person.close()
})
