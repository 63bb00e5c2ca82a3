import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listIncidents } from '@hedgerow/contract'
import type { Client } from '@hedgerow/client'
import { createApiAs } from '../harness/api-client.ts'
import { startChild, type Child } from '../harness/child-process.ts'
import { waitFor } from '../harness/wait-for.ts'

/** The demo with its real detector, which npm fetches, so `npm test` leaves it out; `.ci/run` does not. */
const isAsked = process.env['TEST_INSTALLS'] === 'on'
if (!isAsked) process.stdout.write('skipped: the demo with its detector: npm run test:installs runs it\n')

const DEMO = join(import.meta.dirname, '..', '..', 'scripts', 'demo.ts')
const READY_MS = 300_000
/** Every scene of a minute four times. */
const SCENES_MS = 240_000

describe.skipIf(!isAsked)('the demo with its detector', () => {
  let folder: string
  let demo: Child
  let api: Client
  let switches: string

  async function start(): Promise<void> {
    demo = await startChild(process.execPath, [DEMO], { env: { DEMO_DATA_DIR: folder } })
    const [, url = ''] = await demo.says(/^Hub: (\S+)$/m, READY_MS)
    const [, password = ''] = await demo.says(/^Sign in: admin \/ (\S+)$/m)
    ;[, switches = ''] = await demo.says(/^Valve and siren: (\S+)$/m)
    api = createApiAs(url, { username: 'admin', password })
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hedgerow-demo-'))
    await start()
  }, READY_MS)
  afterAll(async () => {
    await demo?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('the first start says what it fetches, and who looks', () => {
    expect(demo.output()).toMatch(/^The first start fetches the detector ssdlite-coco \(16\.9 MB, Apache-2\.0\)/m)
    expect(demo.output()).toMatch(/a real detector, SSDLite MobileNet\s+v2/)
  })

  test(
    'the detector names the cow, the horse and the person, and the cow opens the valve',
    async () => {
      const seen = async () => (await api(listIncidents)).map(({ camera, label }) => `${camera}: ${label}`)
      const wanted = ['rendered meadow: horse', 'rendered orchard: cow', 'rendered yard: person']
      const hasAll = async () => {
        const found = await seen()
        return wanted.every((one) => found.includes(one))
      }
      await waitFor(hasAll, { for: wanted.join(', '), timeoutMs: SCENES_MS })
      const opened = async () => {
        const state = (await (await fetch(`${switches}state`)).json()) as { valve: { timesOn: number } }
        return state.valve.timesOn > 0
      }
      await waitFor(opened, { for: 'the valve to be open', timeoutMs: SCENES_MS })
      expect((await seen()).filter((one) => one.startsWith('rendered lay-by'))).toEqual([])
    },
    2 * SCENES_MS,
  )

  test(
    'the second start fetches nothing',
    async () => {
      await demo.stop()
      await start()
      expect(demo.output()).not.toContain('fetches')
      expect(demo.output()).toContain('a real detector')
    },
    READY_MS,
  )
})
