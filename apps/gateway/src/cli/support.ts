/**
 * Describes a device for somebody who looks for a fault. It is an allow-list: no name, address, text of a person or
 * value of a setting is in it.
 */
import { rm, writeFile } from 'node:fs/promises'
import { arch, cpus, freemem, loadavg, release, totalmem, uptime } from 'node:os'
import { resolve } from 'node:path'
import manifest from '../../../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { inWords } from '../kernel/failure.ts'
import { findBundle } from '../update/installation.ts'
import type { Outcome } from './command-line.ts'
import { examine, statusOf } from './doctor.ts'

export async function writeSupport(config: Config, environment: NodeJS.ProcessEnv, file: string): Promise<Outcome> {
  const path = resolve(file)
  const text = `${JSON.stringify(await describeDevice(config, environment), null, 2)}\n`
  try {
    await writeFile(path, '', { mode: 0o600, flag: 'wx' })
    await writeFile(path, text).catch(async (error: unknown) => {
      await rm(path, { force: true })
      throw error
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why =
      code === 'EEXIST' ? 'exists already. Name a new file.' : `cannot be written: ${inWords(error)} (${code}).`
    return { text: `${path} ${why}`, isDone: false }
  }
  return { text: `Written to ${path}. Read it before you pass it on: it should hold nothing secret.`, isDone: true }
}

export async function describeDevice(config: Config, environment: NodeJS.ProcessEnv) {
  const bundle = await findBundle()
  const { status } = await statusOf(config.dataDir)
  return {
    madeAt: new Date().toISOString(),
    version: bundle?.version ?? manifest.version,
    release: bundle?.number ?? null,
    form: bundle?.form ?? 'sources',
    node: process.version,
    system: {
      kernel: release(),
      processor: arch(),
      cores: cpus().length,
      load: loadavg(),
      memoryBytes: { total: totalmem(), free: freemem() },
      uptimeSeconds: Math.round(uptime()),
    },
    /** Names only: a value may be a secret. */
    variables: Object.keys(environment).filter((name) => name.startsWith('GATEWAY_') && environment[name]),
    checks: (await examine(config, environment)).map(({ check, state }) => ({ check, state })),
    agent: status && {
      version: status.version,
      armed: status.armed,
      detectionsWaiting: status.detectionsWaiting,
      steps: status.conditions.map(({ step, state, at }) => ({ step, state, at })),
      cameras: status.cameras.map(({ state, fps }) => ({ state, fps })),
      detectors: status.detectors.map(({ inferenceMs }) => ({ inferenceMs })),
      deterrents: status.deterrents.map(({ state, driver }) => ({ state, driver })),
      problems: status.problems.length,
      update: { by: status.updates.by, state: status.updates.state, release: status.updates.release },
    },
  }
}
