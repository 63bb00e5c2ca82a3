import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { hasUrl, type CameraSettings } from '../cameras/schema.ts'
import { isMissing, writeDurably } from '../kernel/durable-file.ts'
import { checkNames, type KnownNames } from './known-names.ts'
import { folderOf } from './parse.ts'
import { createParseThread } from './parse-thread.ts'
import { readText } from './read-text.ts'
import type { DeviceFile } from './schema.ts'
import type { FileError } from './yaml.ts'

/** Edits the text of `gateway.yaml`, so that people's comments stay. */
export type DeviceFileEditor = {
  /** The file on disk, which may have errors; empty when there is none. Rejects with the disk's error. */
  read(): Promise<{ text: string; hash: string }>
  /** The parsed file on disk; undefined when it has errors. */
  parsed(): Promise<{ file: DeviceFile | undefined; hash: string }>
  /** The settings that the file would give a camera with this address. */
  camera(url: string): Promise<{ settings: CameraSettings } | { errors: FileError[] }>
  /** With `hidden`, for people who may not have the values of `${NAME}` and `!file`. */
  check(text: string, values: 'read' | 'hidden'): Promise<Checked>
  /**
   * Writes the text when `hash` is still the hash of the file on disk and the text has no errors. Resolves when the
   * file is whole on disk; rejects with the disk's error.
   */
  save(text: string, hash: string): Promise<Saved>
  /** The same for the text that `edit` returns for the one on disk. Rejects with the error of `edit`. */
  change(edit: (text: string) => string, hash: string): Promise<Saved>
  stop(): Promise<void>
}

type Checked = { errors: FileError[]; warnings: FileError[] }
export type Saved = { hash: string } | { refused: 'changed' } | { errors: FileError[] }

/** Several texts wait already. */
export class TooManyChecks extends Error {
  override name = 'TooManyChecks'
}

/** The most checks of people who come through the hub at once: each takes up to some seconds. */
const WAITING_MAX = 4
const HIDDEN = {
  line: 1,
  column: 1,
  message: 'The values of `${NAME}` and `!file` were not read: that takes the password of the device.',
}

export function createEditor(
  path: string,
  options: {
    uiTarget?: URL | undefined
    environment?: NodeJS.ProcessEnv
    /** What the sources know now; `file` is the one that is checked. */
    known(file: DeviceFile): KnownNames | Promise<KnownNames>
  },
): DeviceFileEditor {
  const { uiTarget, known, environment = process.env } = options
  const secrets = { folder: folderOf(path), environment: { ...environment } }
  const thread = createParseThread()
  let turn: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let last: { hash: string; file: DeviceFile | undefined } | undefined

  async function read() {
    const text = await readText(path).catch((error: unknown) => {
      if (isMissing(error)) return ''
      throw error
    })
    return { text, hash: hashOf(text) }
  }

  async function camera(url: string) {
    const text = JSON.stringify({ cameras: { a: { url } } })
    const { value, errors } = (await thread.parse({ text, secrets })).parsed
    const settings = value?.cameras['a']
    return settings && hasUrl(settings) ? { settings } : { errors: errors ?? [] }
  }

  async function check(text: string, values: 'read' | 'hidden'): Promise<Checked> {
    const answer = await thread.parse({
      text,
      secrets: values === 'hidden' ? values : secrets,
      uiTarget: uiTarget?.href,
    })
    const { parsed } = answer
    const hidden = values === 'hidden' && answer.hasSecrets ? [HIDDEN] : []
    if (parsed.errors) return { errors: parsed.errors, warnings: hidden }
    const { value, names, warnings } = parsed
    const found = checkNames(value, names, await known(value))
    return { errors: found.errors, warnings: [...found.warnings, ...warnings, ...hidden] }
  }

  async function parsed() {
    const { text, hash } = await read()
    if (last?.hash !== hash) last = { hash, file: (await thread.parse({ text, secrets })).parsed.value }
    return last
  }

  async function save(text: string, hash: string, allowed: readonly FileError[] = []): Promise<Saved> {
    const errors = (await check(text, 'read')).errors.filter(
      ({ message }) => !allowed.some((other) => other.message === message),
    )
    if (errors.length > 0) return { errors }
    if ((await read()).hash !== hash) return { refused: 'changed' }
    // When the file is a link, its target is replaced; the target's owner and mode stay.
    const target = await realpath(path).catch(() => path)
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      () => 0o600,
    )
    await writeDurably(target, text, mode)
    return { hash: hashOf(text) }
  }

  /** A name that a source no longer provides does not hold up the change of something else. */
  async function change(edit: (text: string) => string, hash: string): Promise<Saved> {
    const before = await read()
    if (before.hash !== hash) return { refused: 'changed' }
    const { errors } = (await thread.parse({ text: before.text, secrets })).parsed
    if (errors) return { errors }
    return save(edit(before.text), hash, (await check(before.text, 'read')).errors)
  }

  function inTurn(action: () => Promise<Saved>): Promise<Saved> {
    const saved = turn.then(action)
    turn = saved.catch(() => {})
    return saved
  }

  return {
    read,
    parsed,
    camera,
    async check(text, values) {
      if (values === 'read') return check(text, values)
      if (waiting >= WAITING_MAX) throw new TooManyChecks()
      waiting += 1
      return check(text, values).finally(() => (waiting -= 1))
    },
    stop: thread.stop,
    save: (text, hash) => inTurn(() => save(text, hash)),
    change: (edit, hash) => inTurn(() => change(edit, hash)),
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
