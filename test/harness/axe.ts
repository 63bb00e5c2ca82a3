import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

type Options = { resultTypes: ['violations']; preload: { assets: ['media'] }; runOnly?: string[] }
type AxeGlobal = {
  axe?: {
    run(options: Options): Promise<{
      violations: { id: string; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }[]
    }>
  }
}

/** The rules that depend on the colour scheme; all others need only one. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

let source: Promise<string> | undefined

/** axe-core's findings on the current page: one line for each faulty element. */
export async function axeViolations(page: Page, about: 'everything' | 'colours' = 'everything'): Promise<string[]> {
  source ??= readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  // Evaluated over the debugging protocol, which the page's Content-Security-Policy does not affect.
  const isThere = await page.evaluate(() => (globalThis as unknown as AxeGlobal).axe !== undefined)
  if (!isThere) await page.evaluate(await source)
  return page.evaluate(
    async (rules) => {
      const { axe } = globalThis as unknown as Required<AxeGlobal>
      const { violations } = await axe.run({
        resultTypes: ['violations'],
        // Without a copy of all style sheets, which only an experimental rule reads; those do not run.
        preload: { assets: ['media'] },
        ...(rules && { runOnly: rules }),
      })
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map((node) => `${id} (${help}): ${node.target.join(' ')}: ${node.failureSummary ?? ''}`),
      )
    },
    about === 'colours' ? COLOUR_RULES : undefined,
  )
}
