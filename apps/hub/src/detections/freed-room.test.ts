import { randomBytes } from 'node:crypto'
import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { testDetection } from '#testing/detection.ts'
import { smallDisk } from '#testing/disks.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub } from '#testing/hub.ts'
import { storeDetections } from './detections.ts'

const WAIT = { timeout: 60_000, interval: 100 }

it.for([['incremental'], ['none']] as const)(
  'deleting detections ends a nearly full disk by itself, in a database with auto_vacuum %s',
  async ([mode], { skip }) => {
    const path = smallDisk(skip)
    const databaseFile = join(path, 'hub.sqlite')
    const onDisk = { dataDir: path, databaseUrl: `sqlite:${databaseFile}`, diskReserveBytes: undefined }
    await (await startTestHub('sqlite', onDisk)).stop()
    // A database of an earlier version.
    if (mode === 'none') {
      const file = new DatabaseSync(databaseFile)
      file.exec('pragma journal_mode = delete; pragma auto_vacuum = none; vacuum')
      file.close()
    }
    const hub = await startTestHub('sqlite', onDisk)
    onTestFinished(() => hub.stop())
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const call = async (url: string) => (await hub.app.inject({ url, headers })).json<unknown>()
    const isReady = async () => (await hub.app.inject({ url: '/readyz' })).statusCode === 200
    const id = await insertTestGateway(hub.db, { name: 'Barn' })

    for (let batch = 0; ; batch += 1) {
      const { bsize, bavail } = statfsSync(path)
      if (bsize * bavail < 6_000_000) break
      const seen = Array.from({ length: 10 }, (_, i) =>
        testDetection(hub, `d${batch}-${i}`, { jpeg: randomBytes(40_000) }),
      )
      await storeDetections(hub.db, id, seen, hub.clock.now())
    }
    await vi.waitFor(async () => expect(await isReady()).toBe(false), WAIT)
    const said = expect.stringContaining("are free on the hub's disk: make room.")
    expect(await call('/api/v1/hub/problems')).toEqual([{ part: 'storage', message: said }])

    const size = () => statSync(databaseFile).size
    const before = size()
    const payload = { name: 'Barn' }
    const deleted = await hub.app.inject({ method: 'DELETE', url: `/api/v1/hub/gateways/${id}`, headers, payload })
    expect(deleted.statusCode).toBe(204)
    await vi.waitFor(async () => expect(await isReady()).toBe(true), WAIT)
    expect(await call('/api/v1/hub/problems')).toEqual([])
    // It is room all the same, whether the file stays as large or gives its free pages back to the disk.
    const sizes = { none: () => size() >= before, incremental: () => size() < before }
    await vi.waitFor(() => expect(sizes[mode]()).toBe(true), WAIT)
  },
)
