/**
 * Takes the pictures of a film one by one: it takes a picture only when something moves, and shows it as long as the
 * script says. So a slow machine makes the same film as a fast one. Only `live` films in real time. It draws the
 * pointer, because a headless browser has none, and moves the real one with it.
 */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { drawPointer } from './pointer.ts'

export const FRAMES_PER_SECOND = 25

/** A picture and the number of frames that it is shown. */
export type Shot = { file: string; frames: number }

const MOVE_SECONDS = 0.72
const SETTLE_FRAMES_MAX = 14

export type Camera = {
  readonly shots: Shot[]
  /** Seconds of film so far. */
  seconds(): number
  /** From now on films this page. */
  lookAt(page: Page): Promise<void>
  /** Shows the current picture for that long. */
  hold(seconds: number): Promise<void>
  /** Films what happens as long as it really takes, until `isOver`. */
  live(isOver: () => boolean | Promise<boolean>): Promise<void>
  /** Films frame by frame until the picture stops changing. */
  settle(): Promise<void>
  moveTo(target: Locator): Promise<void>
  click(target: Locator): Promise<void>
  type(target: Locator, text: string): Promise<void>
}

export async function createCamera(person: BrowserContext, folder: string): Promise<Camera> {
  await person.addInitScript(drawPointer)
  const shots: Shot[] = []
  let frames = 0
  let lastHash = ''
  let page: Page | undefined
  const at = { x: 512, y: 300 }

  const looking = () => {
    if (page === undefined) throw new Error('The camera looks at nothing yet')
    return page
  }
  const place = async (press = 0) => {
    await looking().mouse.move(at.x, at.y)
    await looking().evaluate(
      ([x, y, p]) => dispatchEvent(new CustomEvent('film', { detail: { x, y, p } })),
      [at.x, at.y, press],
    )
  }
  /** Returns true when the picture differs from the one before. */
  const shoot = async (count = 1): Promise<boolean> => {
    const picture = await looking().screenshot({ scale: 'device', caret: 'hide' })
    const hash = createHash('sha256').update(picture).digest('hex')
    frames += count
    const last = shots.at(-1)
    if (hash === lastHash && last !== undefined) {
      last.frames += count
      return false
    }
    lastHash = hash
    const file = join(folder, `${String(shots.length).padStart(5, '0')}.png`)
    await writeFile(file, picture)
    shots.push({ file, frames: count })
    return true
  }
  const settle = async () => {
    for (let count = 0; count < SETTLE_FRAMES_MAX; count++) {
      if (!(await shoot()) && count > 1) return
    }
  }
  const moveTo = async (target: Locator) => {
    await target.scrollIntoViewIfNeeded()
    const box = await target.boundingBox()
    if (box === null) throw new Error(`Nothing to point at: ${target.toString()}`)
    const from = { ...at }
    const to = { x: box.x + Math.min(box.width / 2, 150), y: box.y + box.height / 2 }
    const steps = Math.round(MOVE_SECONDS * FRAMES_PER_SECOND)
    for (let step = 1; step <= steps; step++) {
      const t = step / steps
      const eased = t * t * t * (t * (6 * t - 15) + 10)
      at.x = from.x + (to.x - from.x) * eased
      at.y = from.y + (to.y - from.y) * eased
      await place()
      await shoot()
    }
  }
  return {
    shots,
    seconds: () => frames / FRAMES_PER_SECOND,
    async lookAt(next) {
      page = next
      await next.bringToFront()
      await next.evaluate(() => document.fonts.ready.then(() => undefined))
      await place()
    },
    hold: async (seconds) => void (await shoot(Math.round(seconds * FRAMES_PER_SECOND))),
    async live(isOver) {
      const beganAt = performance.now()
      const before = frames
      do {
        await shoot()
        const due = Math.round(((performance.now() - beganAt) / 1_000) * FRAMES_PER_SECOND)
        shots.at(-1)!.frames += Math.max(0, before + due - frames)
        frames = Math.max(frames, before + due)
      } while (!(await isOver()))
    },
    settle,
    moveTo,
    async click(target) {
      await moveTo(target)
      await shoot(4)
      for (const press of [0.35, 0.7, 1]) {
        await place(press)
        await shoot()
      }
      await place()
      await target.click()
    },
    async type(target, text) {
      await target.click()
      for (const letter of text) {
        await target.pressSequentially(letter)
        await shoot(2)
      }
    },
  }
}
