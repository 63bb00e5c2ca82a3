import { afterAll, beforeAll, describe, test } from 'vitest'
import { skipWithout, type Privilege } from '../privileges.ts'
import type { Driver } from './driver.ts'
import { JOURNEYS } from './journeys.ts'
import { pageOf } from './page.ts'
import { startWorld, type World } from './world.ts'

/** The journeys in a browser that not every machine has; `.ci/run` installs it, so there it fails without it. */
export function testIn(browser: string, needed: Privilege[], start: (world: World) => Promise<Driver>): void {
  const lacks = skipWithout(browser, ...needed) && process.env['TEST_INSTALLS'] !== 'on'
  describe.skipIf(lacks)(browser, () => {
    let world: World
    beforeAll(async () => {
      world = await startWorld()
    })
    afterAll(() => world?.stop())
    test.each(Object.entries(JOURNEYS))('%s', async (_what, journey) => {
      const browser = await start(world)
      await journey(pageOf(browser), world).finally(browser.close)
    })
  })
}
