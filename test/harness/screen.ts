import type { Page } from 'playwright-core'
import type { Credentials, Hub } from './hub.ts'
import { isNowhere, moveTo } from './in-place.ts'
import { portalOf, type Portal } from './portal.ts'
import { enterAs } from './session.ts'
import type { Showcase } from './showcase.ts'

/** One screen, dialog or state of the portal or of the device page, with the steps that lead to it. */
export type Screen = {
  /** kebab-case: the name of its picture. */
  name: string
  /**
   * Leaves the page in the state to show, without running changes. `isIn`: the page is nowhere in the portal of this
   * screen's person, which moves on without a load.
   */
  show(page: Page, showcase: Showcase, isIn?: boolean): Promise<void>
  /** The page can show no other screen afterwards: its clock was replaced. */
  spoilsPage?: true
  /** Its address in the portal, for a screen of somebody who is signed in. */
  path?: string
  /** In whose portal it is. */
  person?: Person
}

type Person = (showcase: Showcase) => { hub: Hub; credentials: Credentials }

type Steps = (portal: Portal, showcase: Showcase) => Promise<unknown>

/** On `hub`, with nobody signed in. */
export const visitor = (name: string, steps: Steps, more: Pick<Screen, 'spoilsPage'> = {}): Screen => ({
  ...more,
  name,
  show: async (page, showcase) => void (await steps(portalOf(page, showcase.hub), showcase)),
})

const signedIn =
  (person: Person) =>
  (name: string, path: string, steps?: Steps): Screen => ({
    name,
    path,
    ...(!isNowhere(path) && { person }),
    async show(page, showcase, isIn = false) {
      const { hub, credentials } = person(showcase)
      const portal = portalOf(page, hub)
      if (isIn) await moveTo(page, path)
      else {
        await enterAs(page, hub, credentials)
        await portal.open(path)
      }
      await page.locator('main h1').waitFor()
      await steps?.(portal, showcase)
    },
  })

export const admin = signedIn(({ hub }) => ({ hub, credentials: hub.admin }))
export const firstDay = signedIn(({ emptyHub }) => ({ hub: emptyHub, credentials: emptyHub.admin }))
export const user = signedIn(({ hub, visitorOfFarm }) => ({ hub, credentials: visitorOfFarm }))

export const button = (portal: Portal, name: string | RegExp) => portal.page.getByRole('button', { name })
export const text = (portal: Portal, words: string | RegExp) => portal.page.getByText(words).first().waitFor()
export const openMenuOf = async (portal: Portal, name: string) => button(portal, `More actions for ${name}`).click()
