import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { AGENT_COMMAND } from '../test/harness/agent.ts'
import { startChild, type Child } from '../test/harness/child-process.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { buildProgram } from './release-bundle.ts'
import { timeDetections } from './agent-detections.ts'
import { processorSecondsOf } from './processor.ts'
import { median, report, reportGoals } from './report.ts'

/** By then the first heartbeats have passed, and V8 has freed the memory of the start. */
const REST_MS = 45_000

/**
 * The agent as a process of its own, joined to a hub: how long from its start to a tunnel that carries heartbeats, and
 * its memory at rest. It builds the bundle that people install and starts it as they do; `--program` is the program of
 * a bundle that is there, `--sources` measures the sources. `--rest` is in seconds, `--rounds` starts it so often.
 */
export async function benchAgent(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      program: { type: 'string' },
      sources: { type: 'boolean', default: false },
      rest: { type: 'string', default: String(REST_MS / 1_000) },
      rounds: { type: 'string', default: '3' },
    },
  })
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-'))
  const command: Command = values.sources
    ? [process.execPath, ...AGENT_COMMAND]
    : [values.program ?? (await buildProgram('hedgerow-gateway', join(folder, 'bundle')))]
  const dataDir = join(folder, 'data')
  const hub = await startHub()
  const rows: Record<string, Record<string, number>> = {}
  try {
    for (let round = 0; round <= Number(values.rounds); round++) {
      const startedAt = performance.now()
      const agent = await startAgent(hub, dataDir, command)
      try {
        if (round === 0) await approve(hub)
        await agent.says(/tunnel up: done/, 60_000)
        const upAfterMs = Math.round(performance.now() - startedAt)
        // The first start enrols; the later ones do not.
        if (round === 0) {
          await waitFor(
            async () => (await hub.api(listGateways)).some(({ status }) => status !== 'offline') || undefined,
            {
              for: 'the first heartbeat',
            },
          )
          continue
        }
        const restMs = Number(values.rest) * 1_000
        await sleep(restMs / 2)
        const before = processorSecondsOf(agent.pid)
        await sleep(restMs / 2)
        const share = (processorSecondsOf(agent.pid) - before) / (restMs / 2_000)
        rows[`start ${round}`] = {
          'start to tunnel, ms': upAfterMs,
          ...(await memoryOf(agent.pid)),
          'core at rest, %': Math.round(share * 1_000) / 10,
        }
      } finally {
        await agent.stop()
      }
    }
    report('agent-detections', await timeDetections(hub, command))
  } finally {
    await hub.stop()
    await rm(folder, { recursive: true, force: true })
  }
  report('agent', rows)
  const middle = (figure: string) => median(Object.values(rows).map((row) => row[figure]!))
  reportGoals('agent', { 'at rest, MB': middle('RSS, MB'), 'at rest, core, %': middle('core at rest, %') })
}

type Command = [program: string, ...args: string[]]

function startAgent(hub: Hub, dataDir: string, [program, ...first]: Command): Promise<Child> {
  const settings = ['--hub', hub.url, '--name', 'Barn', '--data', dataDir, '--port', '0']
  // As in the unit of docs/operations/systemd.md.
  const env = { GATEWAY_HOST: '127.0.0.1', NODE_COMPILE_CACHE: join(dataDir, 'compile-cache') }
  return startChild(program, [...first, ...settings], { env })
}

async function approve(hub: Hub): Promise<void> {
  const registration = await waitFor(async () => (await hub.api(listPendingRegistrations))[0], {
    for: 'the registration',
  })
  await hub.api(approveRegistration, { params: { registrationId: registration.registrationId } })
}

/**
 * In MB: all resident memory, this process's share of it, and the parts that no other process shares
 * (proc_pid_smaps(5)).
 */
async function memoryOf(pid: number): Promise<Record<string, number>> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const megabytes = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1_024)
  return { 'RSS, MB': megabytes('Rss'), 'PSS, MB': megabytes('Pss'), 'own, MB': megabytes('Private_Dirty') }
}
