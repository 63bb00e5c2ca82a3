/** The detector that a person adds with a button: fetched, converted and checked as by `model add`. */
import type { ResponseOf } from '@hedgerow/contract'
import type { deviceCalls } from '@hedgerow/contract/device-interface'
import { NO_PROGRESS } from '@hedgerow/http'
import type { Logger } from 'pino'
import type { Edit } from '../../device-file/edit-text.ts'
import type { DeviceFileEditor } from '../../device-file/editor.ts'
import type { Download } from '../../hub/tunnel-download.ts'
import { inWords } from '../../kernel/failure.ts'
import { addModel, type Open } from '../../models/add.ts'
import { KNOWN_MODELS } from '../../models/known-models.ts'
import { ModelError, inWords as modelErrorInWords } from '../../models/model-error.ts'
import { releasedName } from '../../models/package.ts'
import { listModels, modelsFolder } from '../../models/store.ts'

type State = ResponseOf<typeof deviceCalls.readDetector>

const { name, licence, page, package: packed } = KNOWN_MODELS.find((model) => model.name === 'ssdlite-coco')!
const OFFERED = { name, page, megabytes: packed!.megabytes, licence: { name: licence.name, url: licence.url ?? null } }

export type Detector = ReturnType<typeof createDetector>

/** Sets the model of the eye, and nothing else. */
export const LOOK_WITH_DETECTOR: Edit[] = [{ path: ['sources', 'eye', 'model'], value: name }]

export function createDetector(options: {
  dataDir: string
  editor: Pick<DeviceFileEditor, 'parsed'>
  /** Opens a file that the hub hands out. */
  download: Download
  log: Logger
}) {
  const { dataDir, editor, download, log } = options
  const folder = modelsFolder(dataDir)
  let step: string | null = null
  let failure: string | null = null

  /** Undefined without a hub, or when it has none: then npm fetches it. */
  async function fromHub(): Promise<Open | undefined> {
    const silence = new AbortController()
    const body = await download(releasedName(name), { from: 0, signal: silence.signal }).catch(() => undefined)
    return (
      body &&
      ((signal) => {
        signal.addEventListener('abort', () => silence.abort())
        return body
      })
    )
  }

  async function fetchIt(acceptedLicence: string): Promise<void> {
    try {
      await addModel({
        what: name,
        acceptedLicence,
        folder,
        fromHub,
        confirm: async () => false,
        print: (line) => void (step = line),
        progress: { ...NO_PROGRESS, show: (what, how = '') => void (step = `${what}: ${how}`) },
      })
    } catch (error) {
      failure = error instanceof ModelError ? modelErrorInWords(error) : inWords(error)
      log.warn({ err: error }, 'the detector was not added')
    } finally {
      step = null
    }
  }

  async function read(): Promise<State> {
    const { file, hash } = await editor.parsed()
    const eye = file?.sources.eye
    const isAdded = (await listModels(folder)).includes(name)
    return { hash, model: eye ? eye.model : null, offered: OFFERED, isAdded, step, failure }
  }

  return {
    read,
    /** Begins, unless it has begun. */
    add(acceptedLicence: string): Promise<State> {
      if (step === null) {
        step = 'It begins.'
        failure = null
        void fetchIt(acceptedLicence)
      }
      return read()
    },
  }
}
