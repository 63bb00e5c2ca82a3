import { z } from 'zod'
import { minimumScore, REGIONS, regions, scores, sizes } from '../../cameras/schema.ts'
import { executionProvider, modelName } from '../../models/schema.ts'
import { recordingSettings } from '../../recording/schema.ts'

export const NO_MODEL = 'none'
/** The demonstration eye. */
export const DEMONSTRATION = 'demonstration'

/** The part `sources.eye` of gateway.yaml. */
export const eyeSettings = z.strictObject({
  cameras: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(64)
    .describe('The names of the `cameras` that the eye looks at.'),
  model: modelName
    .default(NO_MODEL)
    .describe(
      'A model that was added with `hedgerow-gateway model add`. `none`: the eye reports `motion` and nothing ' +
        'else. `demonstration`: for drawn scenes only; it tells drawn outlines apart, and sees animals in real ' +
        'pictures that are not there.',
    ),
  threads: z
    .number()
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe('How many cores the model uses for one picture; all when left out.'),
  executionProviders: z
    .array(executionProvider)
    .min(1)
    .max(executionProvider.options.length)
    .default(['cpu'])
    .describe(
      'What computes, by the names of ONNX Runtime: the first one that opens the model here is used. Without ' +
        '`cpu` in the list the eye sees nothing where none opens.',
    ),
  labels: z
    .array(z.string().min(1).max(100))
    .min(1)
    .optional()
    .describe('Reports these labels only; all when left out.'),
  minimumScore: minimumScore
    .optional()
    .describe(
      'The score that a detection must reach, 0 to 1: the median of its last looks. When left out, what was ' +
        'measured for the model and the label, else 0.6.',
    ),
  scores: scores.default({}).describe('The same by label; `animal` means every animal without a score of its own.'),
  sizes: sizes
    .default({})
    .describe(
      'The size and shape that an object must have, by label. Areas are shares of the picture; a shape is ' +
        'width divided by height.',
    ),
  regions: regions
    .default(REGIONS)
    .describe(
      'How many squares around what moves a model looks at, at the resolution of the camera, besides the ' +
        'whole picture from time to time. 0: the whole picture only.',
    ),
  recording: recordingSettings.prefault({}).describe('Pictures and clips of detections, kept on the device.'),
})
export type EyeSettings = z.output<typeof eyeSettings>
