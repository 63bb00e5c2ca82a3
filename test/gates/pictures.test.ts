import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describePictures, readRecord } from '../../scripts/pictured-screens.ts'

const ROOT = join(import.meta.dirname, '../..')
const HINT =
  'a screen in the pictures looks different, or a picture was not made by the command: run "npm run pictures"'

/** The project with one change. */
const changed = (at: string, change: (source: string) => string) =>
  describePictures((path) => {
    const content = readFileSync(join(ROOT, path))
    return path === at ? Buffer.from(change(content.toString('latin1')), 'latin1') : content
  })

test('the pictures and the film show the screens as they are', () => {
  expect(describePictures(), HINT).toEqual(readRecord())
})

test.each([
  ['apps/portal/src/features/dashboard/activity.tsx', ['dashboard']],
  ['apps/portal/src/features/dashboard/page.module.css', ['dashboard']],
  ['apps/portal/src/features/dashboard/messages.ts', ['dashboard']],
  ['apps/portal/src/features/threats/threats.module.css', ['film']],
  ['apps/portal/src/features/shell/shell.module.css', ['dashboard', 'film']],
  ['packages/ui/src/figure-strip.tsx', ['dashboard']],
  ['apps/public/public/media/demo.webm', ['film']],
] as const)('a change of %s is found', (path, found) => {
  const [before, after] = [describePictures(), changed(path, (source) => `${source}.changed{}`)]
  expect(Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]))).toEqual(
    found,
  )
})

test.each([
  ['a comment', 'apps/portal/src/features/dashboard/activity.tsx', (source: string) => `/* Why. */\n\n${source}`],
  ['logic', 'apps/portal/src/features/dashboard/queries.ts', (source: string) => `${source}\nconst more = 1`],
  ['another screen', 'apps/portal/src/features/users/page.tsx', (source: string) => `${source}<p/>`],
])('%s needs no new pictures', (_what, path, change) => {
  expect(changed(path, change)).toEqual(describePictures())
})
