import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { hasUrl, type CameraSettings } from '../cameras/schema.ts'
import { isMissing, writeDurably } from '../kernel/durable-file.ts'
import type { DeviceFile } from './schema.ts'
import { folderOf, parseDeviceFile, type FileError } from './parse.ts'
import { warningsOf } from './warnings.ts'

/** Edits the text of `gateway.yaml`, so that people's comments stay. */
export type DeviceFileEditor = {
  /** The file on disk, which may have errors; empty when there is none. Rejects with the disk's error. */
  read(): Promise<{ text: string; hash: string }>
  /** The parsed file on disk; undefined when it has errors. */
  parsed(): Promise<{ file: DeviceFile | undefined; hash: string }>
  /** The settings that the file would give a camera with this address. */
  camera(url: string): { settings: CameraSettings } | { errors: FileError[] }
  check(text: string): { errors: FileError[]; warnings: FileError[] }
  /**
   * Writes the text when `hash` is still the hash of the file on disk and the text has no errors. Resolves when the
   * file is whole on disk; rejects with the disk's error.
   */
  save(text: string, hash: string): Promise<Saved>
  /** The same for the text that `edit` returns for the one on disk. Rejects with the error of `edit`. */
  change(edit: (text: string) => string, hash: string): Promise<Saved>
}

export type Saved = { hash: string } | { refused: 'changed' } | { errors: FileError[] }

export function createEditor(
  path: string,
  { uiTarget, environment = process.env }: { uiTarget?: URL | undefined; environment?: NodeJS.ProcessEnv },
): DeviceFileEditor {
  let turn: Promise<unknown> = Promise.resolve()

  async function read() {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return ''
      throw error
    })
    return { text, hash: hashOf(text) }
  }

  function camera(url: string) {
    const { value, errors } = parseDeviceFile(JSON.stringify({ cameras: { a: { url } } }), folderOf(path), environment)
    const settings = value?.cameras['a']
    return settings && hasUrl(settings) ? { settings } : { errors: errors ?? [] }
  }

  function check(text: string) {
    const parsed = parseDeviceFile(text, folderOf(path), environment)
    if (parsed.errors) return { errors: parsed.errors, warnings: [] }
    const warnings = warningsOf(parsed.value, uiTarget)
    return { errors: [], warnings: warnings.map(({ path: at, message }) => ({ ...parsed.placeOf(at), message })) }
  }

  async function parsed() {
    const { text, hash } = await read()
    return { file: parseDeviceFile(text, folderOf(path), environment).value, hash }
  }

  async function save(text: string, hash: string): Promise<Saved> {
    const { errors } = check(text)
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

  async function change(edit: (text: string) => string, hash: string): Promise<Saved> {
    const before = await read()
    if (before.hash !== hash) return { refused: 'changed' }
    const { errors } = check(before.text)
    return errors.length > 0 ? { errors } : save(edit(before.text), hash)
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
    check,
    save: (text, hash) => inTurn(() => save(text, hash)),
    change: (edit, hash) => inTurn(() => change(edit, hash)),
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
