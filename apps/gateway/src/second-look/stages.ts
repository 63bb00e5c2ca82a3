/** The stages of the second look: another model, a vision endpoint, or the hub's. */
import { availableParallelism } from 'node:os'
import type { Detection } from '@hedgerow/contract'
import { queryEndpoint, unsure, type Look, type Question } from '@hedgerow/second-look'
import type { Logger } from 'pino'
import type { AskHub } from '../hub/second-look.ts'
import { openModel, type Seen } from '../models/model.ts'
import { modelsFolder } from '../models/store.ts'
import { isPersonLabel } from '../kernel/person-label.ts'
import { cropToImage, cropToJpeg } from './crop.ts'
import type { SecondLookSettings } from './schema.ts'

export type StageLook = Look & {
  /** The next question must wait for this many milliseconds. */
  retryAfterMs?: number
  /** The stage is at fault, not the picture: a sentence for people. */
  fault?: string
}

export type Stage = {
  /** The name of the model or endpoint, for verdicts. */
  readonly by: string
  /** `jpeg` is the whole picture when there is a box, else the best picture. */
  look(detection: Detection, jpeg: Buffer, signal: AbortSignal): Promise<StageLook>
  problems(): string[]
  stop(): Promise<void>
}

export function openStage(
  settings: SecondLookSettings,
  context: { dataDir: string; log: Logger; timeZone: string | undefined; askHub(): AskHub | undefined },
): Stage {
  if (settings.model !== undefined) return modelStage(settings.model, context)
  const { endpoint } = settings
  const timeoutMs = settings.timeoutSeconds * 1_000
  const questionOf = (detection: Detection, jpeg: Buffer): Question => ({
    label: detection.label,
    camera: detection.camera,
    zone: detection.zone,
    at: localTime(detection.startedAt, context.timeZone),
    normal: settings.normal,
    jpeg,
  })
  const nothing = { problems: () => [], stop: async () => {} }
  if (endpoint)
    return {
      by: endpoint.model,
      async look(detection, picture, signal) {
        const jpeg = await cropToJpeg(picture, detection.box)
        if (!jpeg) return unsure('The picture shows too little.')
        const {
          isFault,
          ms: _,
          ...look
        } = await queryEndpoint(endpoint, questionOf(detection, jpeg), { timeoutMs, signal })
        return isFault ? { ...look, fault: look.reason! } : look
      },
      ...nothing,
    }
  return {
    by: 'hub',
    async look(detection, picture) {
      const askHub = context.askHub()
      if (!askHub) return unsure('The second look of the hub cannot be reached.')
      const jpeg = await cropToJpeg(picture, detection.box)
      return jpeg ? askHub(questionOf(detection, jpeg), timeoutMs) : unsure('The picture shows too little.')
    },
    ...nothing,
  }
}

/** From this score on a second model is sure; below `LEAST` it saw nothing. */
const SURE = 0.5
const LEAST = 0.25

function modelStage(name: string, { dataDir, log }: { dataDir: string; log: Logger }): Stage {
  const model = openModel({
    folder: modelsFolder(dataDir),
    name,
    threads: availableParallelism(),
    leastScore: LEAST,
    log,
  })
  return {
    by: name,
    async look(detection, picture) {
      const image = await cropToImage(picture, detection.box)
      if (!image) return unsure('The picture shows too little.')
      const [seen] = (await model.look('second look', [image])) ?? []
      return seen ? judge(detection.label, seen) : unsure('The model cannot be used.')
    },
    problems: model.problems,
    stop: model.stop,
  }
}

function judge(label: string, seen: readonly Seen[]): Look {
  const same = seen.find((each) => means(each.label, label))
  if (same) return { outcome: same.score >= SURE ? 'confirmed' : 'unsure', score: same.score }
  const [other] = seen.filter(({ score }) => score >= SURE)
  return { outcome: 'rejected', reason: other ? `It shows ${other.label}.` : 'It shows nothing of the kind.' }
}

const VEHICLES = new Set(['bicycle', 'car', 'motorcycle', 'bus', 'train', 'truck', 'boat', 'vehicle'])

/** Models such as MegaDetector have only three labels: animal, person and vehicle. */
function means(seen: string, label: string): boolean {
  const wanted = label.toLowerCase()
  if (seen === wanted || (isPersonLabel(seen) && isPersonLabel(wanted))) return true
  if (seen === 'vehicle') return VEHICLES.has(wanted)
  return seen === 'animal' && !isPersonLabel(wanted) && !VEHICLES.has(wanted)
}

function localTime(moment: string, timeZone: string | undefined): string {
  const zoned = Temporal.Instant.from(moment).toZonedDateTimeISO(timeZone ?? Temporal.Now.timeZoneId())
  return zoned.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')
}
