import { stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { isMissing } from '../kernel/durable-file.ts'
import { withGivenCameras } from './given-cameras.ts'
import type { PlacedName } from './names.ts'
import { folderOf, parseDeviceFile, type Parsed } from './parse.ts'
import { readText, UnreadableText } from './read-text.ts'
import { deviceFile, type DeviceFile } from './schema.ts'
import type { FileError } from './yaml.ts'

/**
 * Reads the device's `gateway.yaml`, and again whenever it changes. After a bad edit the last good file stays in force;
 * the error is logged once and reported in heartbeats until it is fixed. A missing file counts as empty.
 */
export type WatchedDeviceFile = {
  current(): DeviceFile
  /** What the current file names and its sources must provide. */
  names(): readonly PlacedName[]
  /** A text without the values of names that are variables or files, as files of version 0.1 may have them. */
  conceal(text: string): string
  /** One sentence for each problem; empty when the file on disk is in force. */
  problems(): string[]
  /** Called with each new file once it is in force. */
  onChange(listener: (file: DeviceFile) => void): void
  /** Reads the file now; resolves when it is in force, or its errors are known. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** Polled, because editors replace files and network file systems send no events. */
const LOOK_INTERVAL_MS = 500

export async function watchDeviceFile(
  path: string,
  options: { log: Logger; environment?: NodeJS.ProcessEnv; givenCameras?: readonly string[] },
): Promise<WatchedDeviceFile> {
  const { log, environment = process.env, givenCameras = [] } = options
  let current: DeviceFile = withGivenCameras(deviceFile.parse({}), givenCameras)
  let names: readonly PlacedName[] = []
  let problems: string[] = []
  let seen: string | undefined
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  let isStopped = false
  const listeners: ((file: DeviceFile) => void)[] = []

  async function lookNow(): Promise<void> {
    const mark = await markOf(path)
    if (mark === seen) return
    const found = await read(path, mark, environment)
    const hadFile = seen !== undefined && seen !== 'none'
    seen = mark
    if (found.errors) {
      problems = problemsOf(found.errors)
      log.error({ file: path, errors: found.errors }, 'gateway.yaml has errors; the last good one stays in force')
      return
    }
    problems = []
    names = found.names
    current = withGivenCameras(found.value, givenCameras)
    const { warnings } = found
    if (warnings.length > 0) log.warn({ file: path, warnings }, 'gateway.yaml has warnings')
    if (mark !== 'none') log.info({ file: path }, 'gateway.yaml is in force')
    else if (hadFile) log.info({ file: path }, 'gateway.yaml was deleted: the defaults are in force')
    for (const listener of listeners) listener(current)
  }

  /** Only one look runs at a time. */
  function look(): Promise<void> {
    looking = looking
      .then(lookNow)
      .catch((error: unknown) => log.error({ err: error }, 'gateway.yaml cannot be watched'))
    return looking
  }

  function lookLater(): void {
    timer = setTimeout(() => {
      void look().finally(() => {
        if (!isStopped) lookLater()
      })
    }, LOOK_INTERVAL_MS)
    timer.unref()
  }

  await lookNow()
  lookLater()
  return {
    current: () => current,
    names: () => names,
    conceal: (text) =>
      names.reduce((replaced, { name, shown }) => (shown === name ? replaced : replaced.replaceAll(name, shown)), text),
    problems: () => problems,
    onChange: (listener) => void listeners.push(listener),
    look,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

/** `none` when there is no file. */
async function markOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch (error) {
    return isMissing(error) ? 'none' : `unreadable ${String(error)}`
  }
}

async function read(path: string, mark: string, environment: NodeJS.ProcessEnv): Promise<Parsed> {
  if (mark === 'none') return { value: deviceFile.parse({}), names: [], warnings: [] }
  try {
    return parseDeviceFile(await readText(path), { folder: folderOf(path), environment })
  } catch (error) {
    const message = error instanceof UnreadableText ? error.message : 'The file cannot be read.'
    return { errors: [{ line: 1, column: 1, message }] }
  }
}

/** Sentences for the heartbeat; the command `check` shows all. */
export function problemsOf(errors: readonly FileError[]): string[] {
  return errors
    .slice(0, 3)
    .map(({ line, column, message }) => `gateway.yaml line ${line}, column ${column}: ${message}`)
}
