/**
 * What worked before an update must work again with the new version: cameras, deterrents and the way of detections to
 * the hub. What did not work before is no fault of the new version.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Heartbeat } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { z } from 'zod'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'

const workedFile = z.object({
  /** The hash of gateway.yaml: after a change a camera may be gone because somebody removed it. */
  file: z.string(),
  cameras: z.array(z.string()),
  deterrents: z.array(z.string()),
  isGuarded: z.boolean(),
  isQueueEmpty: z.boolean(),
})

export type DeviceParts = Pick<Heartbeat, 'cameras' | 'deterrents'> & {
  /** Whether the process that guards the deterrents runs. */
  isGuarded: boolean
  /** Detections that wait for the hub. */
  waiting: number
}

export type Comparison = {
  /** Stores what works now; the next version is compared with it. Never rejects. */
  remember(): Promise<void>
  /** Looks again. Resolves with what has not worked since the start and did before the update, in words. */
  missing(): Promise<string[]>
}

/** `deviceFile`: the path of gateway.yaml. A file that is missing or damaged compares nothing. */
export async function openComparison(
  path: string,
  { deviceFile, parts, log }: { deviceFile: string; parts: () => DeviceParts; log: Logger },
): Promise<Comparison> {
  const before = await readJsonFile(path, workedFile).catch(() => undefined)
  /** What worked at least once since the start: a camera that fails later fails by itself. */
  const seen = { cameras: new Set<string>(), deterrents: new Set<string>(), isGuarded: false, isQueueMoving: false }
  let waitingBefore = 0

  const hashOfFile = async () =>
    createHash('sha256')
      .update(await readFile(deviceFile).catch(() => ''))
      .digest('hex')

  function look(): DeviceParts {
    const now = parts()
    for (const { name, state } of now.cameras) if (state === 'online') seen.cameras.add(name)
    for (const { name, state } of now.deterrents) if (state !== 'fault') seen.deterrents.add(name)
    seen.isGuarded ||= now.isGuarded
    seen.isQueueMoving ||= now.waiting === 0 || now.waiting < waitingBefore
    waitingBefore = now.waiting
    return now
  }

  return {
    async remember() {
      const { cameras, deterrents, isGuarded, waiting } = parts()
      const worked: z.output<typeof workedFile> = {
        file: await hashOfFile(),
        cameras: cameras.flatMap(({ name, state }) => (state === 'online' ? [name] : [])),
        deterrents: deterrents.flatMap(({ name, state }) => (state === 'fault' ? [] : [name])),
        isGuarded,
        isQueueEmpty: waiting === 0,
      }
      await writeDurably(path, `${JSON.stringify(worked)}\n`).catch((error: unknown) =>
        log.warn({ err: error }, 'what works before the update could not be stored'),
      )
    },
    async missing() {
      const now = look()
      if (!before) return []
      const isSameFile = before.file === (await hashOfFile())
      const isExpected = (name: string, listed: readonly { name: string; state: string }[]) => {
        const found = listed.find((one) => one.name === name)
        return found ? found.state !== 'disabled' : isSameFile
      }
      const lost = (kind: 'cameras' | 'deterrents') =>
        before[kind].filter((name) => !seen[kind].has(name) && isExpected(name, now[kind]))
      return [
        ...lost('cameras').map((name) => `camera ${name} gives no picture`),
        ...lost('deterrents').map((name) => `deterrent ${name} does not answer`),
        ...(before.isGuarded && !seen.isGuarded && now.deterrents.length > 0
          ? ['the process that guards the deterrents does not run']
          : []),
        ...(before.isQueueEmpty && !seen.isQueueMoving ? ['no detection reaches the hub'] : []),
      ]
    },
  }
}
