import { cleanLine } from '@hedgerow/contract'
import { layouts, type LayoutName } from '@hedgerow/vision'
import { z } from 'zod'
import { LABEL_SETS, type LabelSet } from './labels.ts'
import { addedModelName, MODEL_FAMILIES, sha256Text } from './schema.ts'

const SIDE_MIN = 32
const SIDE_MAX = 2_048
const CLASSES_MAX = 1_000

const side = z.number().int().min(SIDE_MIN).max(SIDE_MAX)
const webAddress = z.url({ protocol: /^https?$/ }).max(1_000)

/** The description of a model: its input, and the meaning of its outputs. */
export const modelManifest = z.strictObject({
  name: addedModelName,
  /** The source of its bytes, if known: a URL or a path. */
  url: z.string().min(1).max(1_000).optional(),
  sha256: sha256Text,
  licence: z.strictObject({ name: cleanLine(100).min(1), url: webAddress.optional() }),
  layout: z.enum(Object.keys(layouts) as LayoutName[]),
  /** The size of the model's input, in pixels. */
  size: z.strictObject({ width: side, height: side }),
  /** One label for each class in the model's order, null for a class that is not reported; or the name of a set. */
  labels: z.union(
    [z.enum(Object.keys(LABEL_SETS) as LabelSet[]), z.array(cleanLine(100).min(1).nullable()).min(1).max(CLASSES_MAX)],
    `A list of 1 to ${CLASSES_MAX.toLocaleString('en')} labels or null, or one of ` +
      `${Object.keys(LABEL_SETS).join(', ')}.`,
  ),
  /** The lowest score of a detection by label, as measured; `animal` for every animal without one of its own. */
  scores: z.record(cleanLine(100).min(1), z.number().min(0).max(1)).optional(),
})
export type ModelManifest = z.output<typeof modelManifest>

/** A package of npm with a graph model of TensorFlow.js, which is converted on the device. */
const modelPackage = z.strictObject({
  name: z.string().regex(/^(@[a-z0-9-][a-z0-9-._]*\/)?[a-z0-9][a-z0-9-._]*$/),
  version: z.string().regex(/^\d[\w.+-]*$/),
  /** As npm has it, of the whole archive. */
  integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/),
  megabytes: z.number().positive(),
  /** The graph, then the files with its constants, below the package's folder. */
  files: z.array(z.string()).min(1).max(100),
  family: z.enum(MODEL_FAMILIES),
})

/** A manifest for `hedgerow-gateway model add`: its hash may be unknown. */
export const modelSource = modelManifest.extend({ sha256: sha256Text.optional(), package: modelPackage.optional() })
export type ModelSource = z.output<typeof modelSource>
