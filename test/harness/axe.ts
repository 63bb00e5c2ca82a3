import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

type AxeGlobal = {
  axe: {
    run(): Promise<{
      violations: { id: string; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }[]
    }>
  }
}

let source: Promise<string> | undefined

/** What axe-core finds wrong with what the page shows now: one line for each element at fault. */
export async function axeViolations(page: Page): Promise<string[]> {
  source ??= readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  // Evaluated over the debugging protocol, which the page's Content-Security-Policy does not see.
  await page.evaluate(await source)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as AxeGlobal).axe.run()
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id} (${help}): ${node.target.join(' ')}: ${node.failureSummary ?? ''}`),
    )
  })
}
