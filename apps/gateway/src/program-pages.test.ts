import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** In a process of its own, because tests beside this one use the code. */
const PROGRAM = `
  import { readFileSync } from 'node:fs'
  import { releaseProgramPages } from ${JSON.stringify(join(import.meta.dirname, 'program-pages.ts'))}
  const residentKb = () => Number(/^Rss: +(\\d+) kB/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))[1])
  const before = residentKb()
  await releaseProgramPages()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const after = residentKb()
  // All that the program does later still works.
  const work = Array.from({ length: 1000 }, (_, i) => JSON.parse(JSON.stringify({ i })).i).reduce((a, b) => a + b)
  console.log(JSON.stringify({ before, after, work }))
`

test.runIf(process.platform === 'linux')(
  'code that only the start needed leaves the memory of the process',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM])
    const { before, after, work } = JSON.parse(stdout) as { before: number; after: number; work: number }
    expect(work).toBe(499_500)
    expect(before - after).toBeGreaterThan(4_000)
  },
)
