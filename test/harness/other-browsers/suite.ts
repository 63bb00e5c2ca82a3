import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { skipWithout, type Privilege } from '../privileges.ts'
import type { Driver } from './driver.ts'
import { JOURNEYS } from './journeys.ts'
import { pageOf } from './page.ts'
import { startWorld, type World } from './world.ts'

/** The journeys in a browser that not every machine has; `.ci/run` installs it, so there it fails without it. */
export function testIn(name: string, needed: Privilege[], start: (world: World) => Promise<Driver>): void {
  const lacks = skipWithout(name, ...needed) && process.env['TEST_INSTALLS'] !== 'on'
  describe.skipIf(lacks)('what people do', () => {
    let world: World
    beforeAll(async () => {
      world = await startWorld()
    })
    afterAll(() => world?.stop())
    test.each(Object.entries(JOURNEYS))('%s', async (_what, journey) => {
      const browser = await start(world)
      await expect(journey(pageOf(browser), world).finally(browser.close)).resolves.toBeUndefined()
    })
  })
}
