import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import type { Rehearsal } from '@hedgerow/contract/device-interface'
import { hasUrl, type CameraSettings } from '../cameras/schema.ts'
import type { DeterrentSettings } from '../deterrents/schema.ts'
import { isMissing, writeDurably } from '../kernel/durable-file.ts'
import { NotEditable, type Edit } from './edit-text.ts'
import { checkNames, offeredNames, type KnownNames, type OfferedNames } from './known-names.ts'
import { folderOf } from './parse.ts'
import { createParseThread } from './parse-thread.ts'
import type { ParseTask } from './parse-worker.ts'
import { readText } from './read-text.ts'
import type { DeviceFile } from './schema.ts'
import type { Recent } from '../rules/rehearse.ts'
import type { FileError } from './yaml.ts'

/** Edits the text of `gateway.yaml`, so that people's comments stay. */
export type DeviceFileEditor = {
  /** The file on disk, which may have errors; empty when there is none. Rejects with the disk's error. */
  read(): Promise<{ text: string; hash: string }>
  /** The parsed file on disk; undefined when it has errors. */
  parsed(): Promise<{ file: DeviceFile | undefined; hash: string }>
  /** The values of the file on disk as they are written; undefined when it has errors. */
  settings(): Promise<{ written: unknown; names: OfferedNames | undefined; hash: string }>
  /** The settings that the file would give a camera with this address. */
  camera(url: string): Promise<{ settings: CameraSettings } | { errors: FileError[] }>
  /** The same of a deterrent, at the site that the file names. */
  deterrent(name: string, written: object): Promise<Settled>
  /** With `hidden`, for people who may not have the values of `${NAME}` and `!file`. */
  check(text: string, values: 'read' | 'hidden'): Promise<Checked>
  /**
   * Writes the text when `hash` is still the hash of the file on disk and the text has no errors. Resolves when the
   * file is whole on disk; rejects with the disk's error.
   */
  save(text: string, hash: string): Promise<Saved>
  /** The same for edits of the text on disk, made from its values as they are written. Rejects with NotEditable. */
  change(editsOf: (written: unknown) => readonly Edit[], hash: string): Promise<Saved>
  /**
   * What a change would give, without saving it; with `recent`, also what its rules would have done. Rejects with
   * NotEditable.
   */
  preview(edits: readonly Edit[], hash: string, values: 'read' | 'hidden', recent?: Recent): Promise<Previewed>
  stop(): Promise<void>
}

type Settled = { settings: DeterrentSettings; errors?: undefined } | { settings?: undefined; errors: FileError[] }
type Checked = { errors: FileError[]; warnings: FileError[] }
export type Previewed = { refused: 'changed' } | (Checked & { rehearsal: Rehearsal | undefined })
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
  let last: { hash: string; file: DeviceFile | undefined; written: unknown } | undefined

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

  async function deterrent(name: string, written: object): Promise<Settled> {
    const site = (await parsed()).file?.site
    const text = JSON.stringify({ ...(site && { site }), deterrents: { [name]: written } })
    const { value, errors } = (await thread.parse({ text, secrets })).parsed
    const settings = value?.deterrents[name]
    return settings ? { settings } : { errors: errors ?? [] }
  }

  /** The text after the edits, and what is wrong with it. */
  async function check(given: string, values: 'read' | 'hidden', more: Pick<ParseTask, 'edits' | 'rehearse'> = {}) {
    const answer = await thread.parse({
      ...more,
      text: given,
      secrets: values === 'hidden' ? values : secrets,
      uiTarget: uiTarget?.href,
    })
    const { text, parsed, refused, written, rehearsal } = answer
    if (refused !== undefined) throw new NotEditable(refused)
    const hidden = values === 'hidden' && answer.hasSecrets ? [HIDDEN] : []
    if (parsed.errors) return { text, written, rehearsal, file: undefined, errors: parsed.errors, warnings: hidden }
    const { value, names, warnings } = parsed
    const found = checkNames(value, names, await known(value))
    const all = [...found.warnings, ...warnings, ...hidden]
    return { text, written, rehearsal, file: value, errors: found.errors, warnings: all }
  }

  async function parsed() {
    const { text, hash } = await read()
    if (last?.hash !== hash) {
      const { parsed: answer, written } = await thread.parse({ text, secrets })
      last = { hash, file: answer.value, written }
    }
    return last
  }

  async function settings() {
    const { hash, file, written } = await parsed()
    if (!file) return { hash, written: undefined, names: undefined }
    return { hash, written, names: offeredNames(file, await known(file)) }
  }

  async function save(text: string, hash: string): Promise<Saved> {
    return write(await check(text, 'read'), hash)
  }

  async function write({ text, errors }: { text: string; errors: readonly FileError[] }, hash: string): Promise<Saved> {
    if (errors.length > 0) return { errors: [...errors] }
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
  async function checkEdits(
    editsOf: (written: unknown) => readonly Edit[],
    hash: string,
    values: 'read' | 'hidden',
    recent?: Recent,
  ) {
    const before = await read()
    if (before.hash !== hash) return { refused: 'changed' as const }
    const old = await check(before.text, values)
    if (!old.file) return old
    const allowed = old.errors.map(withoutPath)
    const found = await check(before.text, values, {
      edits: editsOf(old.written),
      rehearse: recent && { ...recent, before: old.file },
    })
    const errors = found.errors.filter((error) => {
      const at = allowed.indexOf(withoutPath(error))
      if (at >= 0) allowed.splice(at, 1)
      return at < 0
    })
    return { ...found, errors }
  }

  async function change(editsOf: (written: unknown) => readonly Edit[], hash: string): Promise<Saved> {
    const found = await checkEdits(editsOf, hash, 'read')
    return 'refused' in found ? found : write(found, hash)
  }

  async function preview(
    edits: readonly Edit[],
    hash: string,
    values: 'read' | 'hidden',
    recent?: Recent,
  ): Promise<Previewed> {
    const found = await checkEdits(() => edits, hash, values, recent)
    if ('refused' in found) return found
    const { rehearsal, errors, warnings } = found
    return { rehearsal: errors.length > 0 ? undefined : rehearsal, errors, warnings }
  }

  /** Checks for people of the hub: only some wait at once. */
  async function among<T>(values: 'read' | 'hidden', action: () => Promise<T>): Promise<T> {
    if (values === 'read') return action()
    if (waiting >= WAITING_MAX) throw new TooManyChecks()
    waiting += 1
    return action().finally(() => (waiting -= 1))
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
    deterrent,
    settings,
    check: (text, values) =>
      among(values, async () => {
        const { errors, warnings } = await check(text, values)
        return { errors, warnings }
      }),
    preview: (edits, hash, values, recent) => among(values, () => preview(edits, hash, values, recent)),
    stop: thread.stop,
    save: (text, hash) => inTurn(() => save(text, hash)),
    change: (editsOf, hash) => inTurn(() => change(editsOf, hash)),
  }
}

/** The message for a place that shows where it belongs, such as a field of a form: it has no keys of the file. */
export function withoutPath({ path, message }: FileError): string {
  const own = path && path.length > 0 ? message.slice(path.join('.').length + 2) : message
  return (
    own
      .replace('This key is missing.', 'Fill in this field.')
      .replace(' (its `maximumSeconds`)', '')
      .replace('`seconds`', 'the seconds of a firing')
      // A form offers the labels that there are.
      .replace(/^There is no label ([^;]+)(?:; there is .*)?\.$/, 'No detector of this gateway says $1.')
      .replace('need `site` with latitude and longitude.', 'need the latitude and longitude of the place, under Rules.')
  )
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
