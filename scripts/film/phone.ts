/** A phone in the film: a page of the size of a phone's, shown in its frame on a page that the camera films. */
import type { Locator, Page } from 'playwright-core'
import type { Camera } from './camera.ts'

/** What the person's browser on the phone is like. */
export const PHONE = {
  viewport: { width: 360, height: 640 },
  deviceScaleFactor: 2,
  colorScheme: 'dark',
  reducedMotion: 'reduce',
} as const

const SCALE = 0.8

const STAGE = `<!doctype html><style>
  body { margin: 0; height: 100vh; display: grid; place-items: center; background: #0c1210 }
  div { position: relative; border: 8px solid #2b3733; border-radius: 30px; overflow: hidden }
  img { display: block; width: ${PHONE.viewport.width * SCALE}px }
  i { position: absolute }
</style><div><img alt=""><i></i></div>`

export type Phone = {
  /** Shows the phone's page as it is now. */
  show(): Promise<void>
  /** Taps on a part of the phone's page, and shows what follows once `result` is there. */
  tap(target: Locator, result: Locator): Promise<void>
}

/** `stage` is an empty page of the filmed size. */
export async function createPhone(camera: Camera, { screen, stage }: { screen: Page; stage: Page }): Promise<Phone> {
  await stage.setContent(STAGE)
  const [image, spot] = [stage.locator('img'), stage.locator('i')]
  const show = async () => {
    await screen.evaluate(() => document.fonts.ready.then(() => undefined))
    const picture = await screen.screenshot({ scale: 'device', caret: 'hide' })
    await image.evaluate(async (element: HTMLImageElement, data) => {
      element.src = `data:image/png;base64,${data}`
      await element.decode()
    }, picture.toString('base64'))
    await camera.lookAt(stage)
    await camera.settle()
  }
  return {
    show,
    async tap(target, result) {
      const box = await target.boundingBox()
      if (box === null) throw new Error(`Not on the phone: ${target.toString()}`)
      const [left, top, width, height] = [box.x, box.y, box.width, box.height].map((value) => value * SCALE)
      await spot.evaluate((element: HTMLElement, style) => Object.assign(element.style, style), {
        left: `${left}px`,
        top: `${top}px`,
        width: `${width}px`,
        height: `${height}px`,
      })
      await camera.click(spot)
      await target.click()
      await result.waitFor()
      await show()
    },
  }
}
