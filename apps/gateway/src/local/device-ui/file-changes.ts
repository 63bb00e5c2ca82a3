/** Changes of gateway.yaml by people; each call throws `Refusal`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CameraSettings } from '@hedgerow/contract/device-interface'
import type { z } from 'zod'
import { Refusal } from '../../calls/errors.ts'
import { hasUrl, REGIONS, USUAL_SCORE } from '../../cameras/schema.ts'
import type { WatchedDeviceFile } from '../../device-file/device-file.ts'
import { NotEditable } from '../../device-file/edit-text.ts'
import { withoutPath, type DeviceFileEditor, type Saved } from '../../device-file/editor.ts'
import { changedParts } from '../../device-file/changed-parts.ts'
import { inWords } from '../../kernel/failure.ts'
import type { createNotes } from './notes.ts'
import type { Sessions } from './sessions.ts'
import { signedIn, type Visitor } from './visitor.ts'

/** A call that changes the file, or needs what that needs. */
export type By = {
  caller: Visitor | undefined
  request: IncomingMessage
  response: ServerResponse
  body: { password?: string | undefined }
}

export function createFileChanges(options: {
  editor: Pick<DeviceFileEditor, 'parsed' | 'settings' | 'read'>
  file: Pick<WatchedDeviceFile, 'look'>
  sessions: Pick<Sessions, 'confirm' | 'isConfirmed'>
  notes: ReturnType<typeof createNotes>
}) {
  const { editor, file, sessions, notes } = options

  /** A person who comes through the hub must give the device's password for changes of the file, once in a visit. */
  async function confirm({ caller, request, response, body: { password } }: By): Promise<void> {
    const visitor = signedIn(caller)
    const { visit } = visitor
    if (visit === undefined) return
    if (password !== undefined) {
      const cookie = await notes.checked({ visitor, request }, sessions.confirm(request, password, visit))
      response.setHeader('set-cookie', cookie)
    } else if (!(await sessions.isConfirmed(request, visit, { isUse: true }))) throw new Refusal('password_required')
  }

  return {
    confirm,
    /** The new file is in force when this resolves. */
    async save(by: By, write: () => Promise<Saved>): Promise<{ hash: string }> {
      await confirm(by)
      const { text } = await editor.read()
      const saved = await write().catch((error: unknown) => {
        if (error instanceof Refusal) throw error
        throw notWritten(error)
      })
      if ('refused' in saved) throw new Refusal('file_changed')
      if ('errors' in saved)
        throw new Refusal('file_invalid', {
          message: errorsInWords(saved.errors),
          fieldErrors: Object.fromEntries(
            saved.errors.map((error) => [error.path?.join('.') ?? '', withoutPath(error)]).toReversed(),
          ),
          ...saved,
        })
      await notes.saved(
        { visitor: signedIn(by.caller), request: by.request },
        changedParts(text, (await editor.read()).text),
      )
      await file.look()
      return saved
    },
    async readSettings() {
      const { hash, written, names } = await editor.settings()
      if (!names) throw new Refusal('file_invalid', { message: BROKEN })
      return { hash, settings: (written ?? {}) as Record<string, z.core.util.JSONType>, names }
    },
    async readCamera(name: string): Promise<CameraSettings> {
      const { file: found, hash } = await editor.parsed()
      if (!found) throw new Refusal('file_invalid', { message: BROKEN })
      const camera = Object.hasOwn(found.cameras, name) ? found.cameras[name]! : undefined
      if (!camera || !hasUrl(camera)) throw new Refusal('camera_not_found')
      const { zones, masks, objectMasks, framesPerSecond } = camera
      const { eye } = found.sources
      const options = {
        scores: camera.scores ?? eye?.scores ?? {},
        sizes: camera.sizes ?? eye?.sizes ?? {},
        regions: camera.regions ?? eye?.regions ?? REGIONS,
      }
      const minimumScore = eye?.cameras.includes(name) ? (camera.minimumScore ?? eye.minimumScore ?? USUAL_SCORE) : null
      return { hash, zones, masks, objectMasks, ...options, framesPerSecond, minimumScore }
    },
  }
}

/** The refusal for an edit that cannot be made in place, or a disk's error. */
export function notWritten(error: unknown): Refusal {
  const message = error instanceof NotEditable ? error.message : `The file cannot be written: ${inWords(error)}.`
  return new Refusal('file_unwritable', { message })
}

const BROKEN = 'gateway.yaml has errors. Correct them under Configuration.'

function errorsInWords(errors: readonly { line: number; message: string }[]): string {
  const [first] = errors
  return `The file was not saved; the one before stays in force. Line ${first?.line}: ${first?.message}`
}
