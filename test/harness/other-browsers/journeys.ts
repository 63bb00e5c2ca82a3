import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { listIncidents } from '@hedgerow/contract'
import type { OtherPage } from './page.ts'
import type { World } from './world.ts'

const button = (name: string | RegExp) => ({ role: 'button', name }) as const
const link = (name: string | RegExp) => ({ role: 'link', name }) as const
const field = (name: string | RegExp) => ({ role: 'field', name }) as const
const heading = (name: string | RegExp) => ({ role: 'heading', name }) as const
const dialog = (name: string | RegExp) => ({ role: 'dialog', name }) as const

/** Opens a page of the hub as the first admin. */
async function enter(page: OtherPage, { hub }: World, path: string): Promise<void> {
  await page.goto(`${hub.url}${path}`)
  await signIn(page, hub.admin)
}

async function signIn(page: OtherPage, { username, password }: { username: string; password: string }): Promise<void> {
  await page.write(field('Username'), username)
  await page.write(field('Password'), password)
  await page.click(button('Sign In'))
}

/** Runs in the page: nothing covers the field with the focus, nor its label above and its error below. */
function isFocusInView(): boolean {
  const field = document.activeElement
  const words = field?.closest('.mantine-InputWrapper-root')
  const { left, top, bottom } = (words ?? document.body).getBoundingClientRect()
  return [top + 4, bottom - 4].every((y) => words?.contains(document.elementFromPoint(left + 20, y)))
}

/** These run in the page. */
async function installed() {
  const { href } = document.querySelector<HTMLLinkElement>('link[rel=manifest]')!
  const { display, icons } = (await (await fetch(href)).json()) as { display: string; icons: { src: string }[] }
  const loads = await Promise.all(icons.map(async ({ src }) => (await fetch(src)).ok))
  return { scope: (await navigator.serviceWorker.ready).scope, display, icons: [...new Set(loads)] }
}

async function notifications() {
  return (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title }) => title)
}

/** What people do in any browser, one after the other. */
export const JOURNEYS: Readonly<Record<string, (page: OtherPage, world: World) => Promise<void>>> = {
  async 'sign-in refuses a wrong password, and then takes the right one'(page, world) {
    const { hub } = world
    await page.goto(`${hub.url}/login`)
    await signIn(page, { ...hub.admin, password: 'not this one' })
    await page.see({ text: 'The username or the password is wrong.' })
    await signIn(page, hub.admin)
    await page.see(heading('Gateway Management'))
    await page.click(button(/^Account/))
    await page.click({ role: 'item', name: 'Logout' })
    await page.see(link('Login'))
  },

  async 'the gateway is in the list, and has a page'(page, world) {
    await enter(page, world, '/gateways')
    const row = { role: 'row', name: /North orchard/ } as const
    await page.see({ text: 'Online', in: row })
    await page.click({ ...link('North orchard'), in: row })
    await page.see(heading('North orchard'))
    expect(await page.url()).toBe(`${world.hub.url}/gateways/${world.gatewayId}`)
    await page.see({ text: 'orchard, 90 %' })
  },

  async 'threats open large, arrows lead on, and keys and buttons review them'(page, world) {
    await enter(page, world, '/threats')
    const incidents = async () => (await world.hub.api(listIncidents)).map(({ review }) => review?.verdict)
    await page.click({ role: 'image', name: 'boar at orchard' })
    await page.see(dialog('boar at North orchard'))
    await page.press('ArrowRight')
    await page.see({ role: 'image', in: dialog('fox at North orchard') })
    await page.press('ArrowRight')
    await page.see(dialog('deer at North orchard'))
    await page.press('ArrowLeft')
    await page.click({ ...button(/^Wrong/), in: dialog('fox at North orchard') })
    await page.see(dialog('deer at North orchard'))
    await page.press('r')
    await expect.poll(incidents).toEqual([undefined, 'wrong', 'right'])
    await page.press('Escape')
    await page.seeNo({ role: 'dialog' })
  },

  async 'a rule for alerts is made, changed and deleted'(page, world) {
    await enter(page, world, '/alert-rules')
    await page.click(button('New Rule'))
    const form = { role: 'dialog' } as const
    await page.see({ text: /^In the last 7 days/, in: form })
    await page.click({ ...button('Save Rule'), in: form })
    await expect.poll(() => page.run(isFocusInView)).toBe(true)
    await page.see({ text: 'Enter a name', in: form })
    await page.write({ ...field('Name'), in: form }, 'Foxes')
    await page.write({ ...field('Labels'), in: form }, 'fox, marten')
    await page.click({ ...button('Save Rule'), in: form })
    await page.see({ text: 'fox, marten', in: { role: 'row', name: /Foxes/ } })
    await page.click(button('Edit Foxes'))
    await page.write({ ...field('Name'), in: form }, 'Martens')
    await page.click({ ...button('Save Rule'), in: form })
    await page.seeNo(form)
    await page.click(button('Delete Martens'))
    await page.seeNo({ role: 'row', name: /Martens/ })
  },

  async 'Connect over http opens the gateway’s own interface and the page of its application'(page, world) {
    await enter(page, world, '/gateways')
    await page.see(heading('Gateway Management'))
    for (const [name, sight] of [
      [/own interface/, button('Stop everything')],
      [/^Page of the router/, heading('Router')],
    ] as const) {
      await page.goto(`${world.hub.url}/gateways`)
      await page.click(button('Connect to North orchard'))
      await page.click({ ...button(name), in: { role: 'dialog' } })
      await page.see(sight)
      expect(new URL(await page.url()).origin).not.toBe(world.hub.url)
    }
  },

  async 'Connect over https opens it as well, after the consents that the browser wants'(page, world) {
    const hubUrl = `https://localhost:${world.httpsPort}`
    await page.goto(`${hubUrl}/gateways`)
    await page.consent?.()
    await signIn(page, world.hub.admin)
    await page.click(button('Connect to North orchard'))
    await page.click({ ...button(/own interface/), in: { role: 'dialog' } })
    if (page.consent) {
      await page.see({ text: 'want your consent to the hub’s certificate for each port' })
      await page.click(link('Accept the certificate'))
      await page.consent()
    }
    await page.see(button('Stop everything'))
    const { protocol, hostname, origin } = new URL(await page.url())
    expect([protocol, hostname]).toEqual(['https:', 'localhost'])
    expect(origin).not.toBe(hubUrl)
  },

  async 'the portal can be installed, and shows push messages where the browser has them'(page, world) {
    await enter(page, world, '/profile')
    await page.see(heading('Alerts'))
    expect(await page.run(installed)).toEqual({ scope: `${world.hub.url}/`, display: 'standalone', icons: [true] })
    if (!(await page.run(() => 'PushManager' in window))) {
      await page.see({ text: 'This browser does not support push messages.' })
      return
    }
    await page.click(button('Show alerts in this browser'))
    await page.click(button('Send test to Firefox on Linux'))
    await page.see({ text: 'The push service took it.' })
    await expect.poll(() => page.run(notifications)).toEqual(['Test message from your hub'])
  },

  async 'on the device a zone is drawn by the pointer and saved'(page, { gateway }) {
    await page.goto(`${gateway.pageUrl}device/sign-in`)
    await page.write(field('Password of this device'), gateway.newPassword!)
    await page.click(button('Sign in'))
    await page.click(link('orchard'))
    await page.see({ role: 'image', name: 'orchard now' })
    await page.click(button('Add a zone'))
    // Each try leaves its zone in the file.
    const name = `rows ${randomUUID().slice(0, 4)}`
    await page.write(field('Name of the zone'), name)
    const corners = { role: 'group', name: `Corners of zone ${name}` } as const
    const { width, height } = await page.see(corners)
    const before = await page.see({ ...button(/^Corner 3 of 4/), in: corners })
    const [left = 0, top = 0] = before.name.match(/\d+(?= %)/g)!.map(Number)
    await page.drag({ ...button(before.name), in: corners }, { right: width * 0.2, down: height * 0.1 })
    const third = button(`Corner 3 of 4, ${left + 20} % from the left, ${top + 10} % from the top`)
    await page.see(third)
    await page.click(button('Save'))
    const isChanged = async () => (await page.see(button('Undo all changes'))).isFree
    await expect.poll(isChanged).toBe(false)
    await page.goto(await page.url())
    await page.click(button(`zone ${name}`))
    await page.see(third)
  },
}
