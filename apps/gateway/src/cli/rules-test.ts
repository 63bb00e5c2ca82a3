import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import { readRecord, RECORD_FILE } from '../detections/record.ts'
import { linesOf } from '../device-file/check.ts'
import { folderOf, parseDeviceFile } from '../device-file/parse.ts'
import { readText } from '../device-file/read-text.ts'
import { isMissing } from '../kernel/durable-file.ts'
import { dryRun, type DryRun } from '../rules/dry-run.ts'
import { timeOf, type Outcome } from './command-line.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** More would not fit into the memory of a small board. */
const DETECTIONS_MAX = 100_000

/** Shows what the rules of the file would have done with the detections that the device recorded. Fires nothing. */
export async function testRules(
  path: string,
  dataDir: string,
  {
    since,
    environment,
    now,
    most = DETECTIONS_MAX,
  }: { since: string; environment: NodeJS.ProcessEnv; now: number; most?: number },
): Promise<Outcome> {
  const from = now - durationMs(since)
  const parsed = parseDeviceFile(await textOf(path), { folder: folderOf(path), environment })
  if (parsed.errors) return { text: linesOf(path, parsed.errors), isDone: false }
  const file = parsed.value
  if (file.rules.length === 0) return { text: `${path} has no rules.`, isDone: false }
  const found = readRecord(join(dataDir, RECORD_FILE), { since: from, limit: most + 1 })
  const detections = found?.detections ?? []
  const run = dryRun(file, detections.slice(0, most).toReversed(), (id) => found?.objects.get(id))
  const isCut = detections.length > most
  const count = isCut ? `The newest ${most} detections` : `${detections.length} detections`
  const rest = isCut ? ' (there are more: choose a later --since)' : ''
  const heading = `${count} since ${timeOf(from, file.site.timeZone)}${rest}, by ${path}:`
  return { text: [heading, ...inLines(run, file.site.timeZone)].join('\n'), isDone: true }
}

function inLines({ detections, fired }: DryRun, timeZone: string | undefined): string[] {
  const each = detections.flatMap(({ detection, answers }) => [
    '',
    `${timeOf(Date.parse(detection.startedAt), timeZone)}  ${detection.label} on ${detection.camera}, score ` +
      `${detection.score}`,
    ...answers.map(({ rule, text }) => `  ${rule}: ${text}`),
  ])
  const counts = Object.entries(fired).map(
    ([rule, count]) => `${rule} would have fired ${count === 1 ? 'once' : `${count} times`}.`,
  )
  return [...each, '', ...counts]
}

function durationMs(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  if (count === undefined) throw new ConfigError('--since is a time such as 90m, 24h or 7d')
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

async function textOf(path: string): Promise<string> {
  try {
    return await readText(path)
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}
