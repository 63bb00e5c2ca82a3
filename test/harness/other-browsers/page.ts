import { waitFor } from '../wait-for.ts'
import type { Driver } from './driver.ts'
import { lookFor, type Look, type Sight, type Step } from './look-for.ts'

export type OtherPage = {
  goto(url: string): Promise<void>
  url(): Promise<string>
  /** Resolves once this is seen, with where it is. */
  see(sight: Sight): Promise<Look>
  /** Resolves once this is not seen. */
  seeNo(sight: Sight): Promise<void>
  click(sight: Sight): Promise<void>
  write(sight: Sight, text: string): Promise<void>
  press(key: string): Promise<void>
  /** From the middle of what is seen, by this many pixels. */
  drag(sight: Sight, by: { right: number; down: number }): Promise<void>
  run<A extends unknown[], R>(call: (...args: A) => R, ...args: A): Promise<Awaited<R>>
  consent: Driver['consent']
}

/** https://www.w3.org/TR/webdriver2/#keyboard-actions */
const KEYS: Readonly<Record<string, string>> = {
  Enter: '\uE006',
  Escape: '\uE00C',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
}

export function pageOf(driver: Driver): OtherPage {
  const look = async (sight: Sight, isFocused = false) =>
    (await driver.run(String(lookFor), [stepsOf(sight), isFocused])) as Look | null
  const page: OtherPage = {
    goto: driver.goto,
    url: async () => (await driver.run('() => location.href', [])) as string,
    see: (sight) => waiting(() => look(sight), sight),
    seeNo: async (sight) => void (await waiting(async () => (await look(sight)) === null, sight)),
    click: async (sight) => pointer(driver, [await still(sight)]),
    async write(sight, text) {
      await waiting(() => look(sight, true), sight)
      await type(driver, [...text])
    },
    press: (key) => type(driver, [KEYS[key] ?? key]),
    async drag(sight, { right, down }) {
      const from = await still(sight)
      const by = (part: number) => ({ x: from.x + Math.round(right * part), y: from.y + Math.round(down * part) })
      await pointer(driver, [from, by(0.5), by(1)])
    },
    run: (call, ...args) => driver.run(String(call), args) as Promise<never>,
    consent: driver.consent,
  }

  /** Where it is once it moves no longer and nothing covers it. */
  async function still(sight: Sight): Promise<Look> {
    let before: Look | null = null
    const isStill = async () => {
      const now = await look(sight)
      const stays = now?.isFree && now.x === before?.x && now.y === before.y ? now : undefined
      before = now
      return stays
    }
    return waiting(isStill, sight)
  }

  async function waiting<T>(condition: () => Promise<T>, sight: Sight): Promise<NonNullable<T>> {
    const words = JSON.stringify(stepsOf(sight))
    return waitFor(condition, { for: words }).catch(async (cause: unknown) => {
      const shown = await driver.run('() => `${location.href}\\n${document.body.innerText}`', []).catch(String)
      throw new Error(`In vain: ${words}. The page shows:\n${String(shown)}`, { cause })
    })
  }
  return page
}

function stepsOf(sight: Sight): Step[] {
  const { role, name, text } = sight
  const [words, isWhole] = [name ?? text, name !== undefined]
  const step: Step = {
    ...(role !== undefined && { role }),
    ...(words !== undefined && { words: typeof words === 'string' ? words : [words.source, words.flags] }),
    isWhole,
    at: sight.at ?? 0,
  }
  return [...(sight.in ? stepsOf(sight.in) : []), step]
}

/** Presses at the first place and lets go at the last. */
async function pointer(driver: Driver, [from, ...on]: readonly { x: number; y: number }[]): Promise<void> {
  const to = ({ x, y }: { x: number; y: number }) => ({ type: 'pointerMove', x, y, duration: 20 })
  const actions = [to(from!), { type: 'pointerDown', button: 0 }, ...on.map(to), { type: 'pointerUp', button: 0 }]
  await driver.perform([{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }])
}

async function type(driver: Driver, keys: readonly string[]): Promise<void> {
  const actions = keys.flatMap((value) => ['keyDown', 'keyUp'].map((kind) => ({ type: kind, value })))
  await driver.perform([{ type: 'key', id: 'keyboard', actions }])
}
