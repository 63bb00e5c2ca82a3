import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { walker } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { startRenderedCamera } from '../../../testing/rendered-camera.ts'
import { camerasSettings } from '../../cameras/schema.ts'
import { startEye } from './eye.ts'
import { eyeSettings } from './schema.ts'

const SOON = { timeout: 60_000 }

/** Starts the eye as gateway.yaml configures it, before a camera past which a boar walks again and again. */
async function look(settings: object) {
  const scene = { name: 'orchard', seed: 11, daylight: 'night', durationMs: 7_000 } as const
  const boar = walker('boar', { seed: 21, startMs: 1_000, endMs: 6_000 })
  const rendered = await startRenderedCamera({ ...scene, actors: [boar] })
  onTestFinished(rendered.stop)
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-eye-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const url = rendered.mjpegUrl
  const cameras = { orchard: { ...camerasSettings.parse({ orchard: { url } })['orchard']!, url } }
  const reports: Detection[] = []
  const source = await startEye(
    { eye: eyeSettings.parse({ cameras: ['orchard'], recording: { clips: false }, ...settings }), cameras },
    {
      log: pino({ level: 'silent' }),
      dataDir,
      clock: Date.now,
      report: async (detections) => void reports.push(...detections),
      follow() {},
      firesRule: () => false,
      glimpse() {},
      noteCandidate() {},
      isWrong: () => false,
    },
  )
  onTestFinished(source.stop)
  const ended = () => reports.find(({ endedAt }) => endedAt !== undefined)
  return { reports, ended, detectors: () => source.state().detectors.map(({ name }) => name) }
}

test('an eye that names no model reports the motion of an animal, and never an animal', async () => {
  const { reports, ended, detectors } = await look({})
  // No camera gives a picture yet, so nothing is watched.
  expect(detectors()).toEqual([])
  await expect.poll(ended, SOON).toBeDefined()
  expect(new Set(reports.map(({ label, severity }) => `${label} ${severity}`))).toEqual(new Set(['motion detection']))
  expect(detectors()).toEqual(['motion, no model'])
})

test('the demonstration eye, which the file must ask for, tells drawn outlines apart and is named', async () => {
  const { reports, detectors } = await look({ model: 'demonstration' })
  await expect.poll(() => reports[0], SOON).toMatchObject({ label: 'boar', severity: 'alert' })
  expect(detectors()).toEqual(['demonstration eye'])
})
