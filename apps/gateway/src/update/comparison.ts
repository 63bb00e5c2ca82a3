/**
 * What worked before an update must work again with the new version: cameras, deterrents and the way of detections to
 * the hub. What did not work before is no fault of the new version.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
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
  /** Or that detections left it: an older version reads this name. */
  isQueueEmpty: z.boolean(),
})

export type DeviceParts = Pick<Heartbeat, 'cameras' | 'deterrents'> & {
  /** Whether the process that guards the deterrents runs. */
  isGuarded: boolean
  /** How often it was lost since the start. */
  guardsLost: number
  /** Detections that wait for the hub. */
  waiting: number
}

export type Comparison = {
  /** Call it with each heartbeat. */
  look(): void
  /** Stores what has worked lately; the next version is compared with it. Never rejects. */
  remember(): Promise<void>
  /** Looks again. Resolves with what has not worked lately and did before the update, in words. */
  missing(): Promise<string[]>
}

/**
 * `deviceFile`: the path of gateway.yaml. A file that is missing or damaged compares nothing. `recentMs`: what has not
 * worked for this long is missing; a camera that was away for a moment is not.
 */
export async function openComparison(
  path: string,
  options: {
    deviceFile: string
    parts: () => DeviceParts
    recentMs: number
    log: Logger
    /** Never set back. */
    clock?: () => number
  },
): Promise<Comparison> {
  const { deviceFile, parts, recentMs, log, clock = () => performance.now() } = options
  const before = await readJsonFile(path, workedFile).catch(() => undefined)
  /** When each worked last. */
  const workedAt = { cameras: new Map<string, number>(), deterrents: new Map<string, number>(), queue: -Infinity }
  /** Its process is this device's own, so each loss counts: one that dies again and again runs in between. */
  let unguardedAt = -Infinity
  let last = { waiting: 0, guardsLost: 0 }

  const hashOfFile = async () =>
    createHash('sha256')
      .update(await readFile(deviceFile).catch(() => ''))
      .digest('hex')

  function look() {
    const [now, found] = [clock(), parts()]
    for (const { name, state } of found.cameras) if (state === 'online') workedAt.cameras.set(name, now)
    for (const { name, state } of found.deterrents) if (state !== 'fault') workedAt.deterrents.set(name, now)
    if (!found.isGuarded || found.guardsLost > last.guardsLost) unguardedAt = now
    if (found.waiting === 0 || found.waiting < last.waiting) workedAt.queue = now
    last = { waiting: found.waiting, guardsLost: found.guardsLost }
    return { ...found, isLately: (at = -Infinity) => now - at <= recentMs }
  }

  return {
    look: () => void look(),
    async remember() {
      const { cameras, deterrents, isLately } = look()
      const lately = (kind: 'cameras' | 'deterrents', listed: readonly { name: string }[]) =>
        listed.flatMap(({ name }) => (isLately(workedAt[kind].get(name)) ? [name] : []))
      const worked: z.output<typeof workedFile> = {
        file: await hashOfFile(),
        cameras: lately('cameras', cameras),
        deterrents: lately('deterrents', deterrents),
        isGuarded: !isLately(unguardedAt),
        isQueueEmpty: isLately(workedAt.queue),
      }
      await writeDurably(path, `${JSON.stringify(worked)}\n`).catch((error: unknown) =>
        log.warn({ err: error }, 'what works before the update could not be stored'),
      )
    },
    async missing() {
      const { isLately, ...found } = look()
      if (!before) return []
      const isSameFile = before.file === (await hashOfFile())
      const isExpected = (name: string, listed: readonly { name: string; state: string }[]) => {
        const own = listed.find((one) => one.name === name)
        return own ? own.state !== 'disabled' : isSameFile
      }
      const lost = (kind: 'cameras' | 'deterrents') =>
        before[kind].filter((name) => !isLately(workedAt[kind].get(name)) && isExpected(name, found[kind]))
      return [
        ...lost('cameras').map((name) => `camera ${name} gives no picture`),
        ...lost('deterrents').map((name) => `deterrent ${name} does not answer`),
        ...(before.isGuarded && isLately(unguardedAt) && found.deterrents.length > 0
          ? ['the process that guards the deterrents does not run']
          : []),
        ...(before.isQueueEmpty && !isLately(workedAt.queue) ? ['no detection reaches the hub'] : []),
      ]
    },
  }
}
