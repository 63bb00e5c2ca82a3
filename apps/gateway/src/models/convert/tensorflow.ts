/** Reads a graph model of TensorFlow.js: `model.json`, and the files with its constants that it names. */
import { z } from 'zod'
import { ModelError } from '../model-error.ts'
import { parseJsonAs } from '../store.ts'

export type Constant = { readonly shape: readonly number[] } & (
  | { readonly kind: 'float32'; readonly data: Float32Array }
  | { readonly kind: 'float16'; readonly data: Float16Array }
  | { readonly kind: 'int32'; readonly data: Int32Array }
)

const length = z.union([
  z.int(),
  z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number),
])
/** Base64, or bytes, by the version of TensorFlow's converter. */
const text = z.union([
  z.string().transform((base64) => Buffer.from(base64, 'base64').toString()),
  z.array(z.int()).transform((bytes) => Buffer.from(bytes).toString()),
])
const attribute = z.object({
  s: text.optional(),
  f: z.number().optional(),
  b: z.boolean().optional(),
  list: z.object({ i: z.array(length).optional() }).optional(),
})
const node = z.object({
  name: z.string(),
  op: z.string(),
  input: z.array(z.string()).default([]),
  attr: z.record(z.string(), attribute).default({}),
})
export type TensorFlowNode = z.output<typeof node>

const shape = z.array(z.int().min(0)).max(8)
const modelFile = z.object({
  modelTopology: z.object({ node: z.array(node) }),
  weightsManifest: z.array(
    z.object({
      paths: z.array(z.string()),
      weights: z.array(
        z.object({
          name: z.string(),
          shape,
          dtype: z.enum(['float32', 'int32']),
          quantization: z.object({ dtype: z.literal('float16') }).optional(),
        }),
      ),
    }),
  ),
})

export type TensorFlowModel = {
  readonly nodes: ReadonlyMap<string, TensorFlowNode>
  readonly constants: ReadonlyMap<string, Constant>
}

/** `files` holds `model.json` and the files beside it, by their names. Throws ModelError. */
export function readTensorFlow(files: ReadonlyMap<string, Buffer>, main: string): TensorFlowModel {
  const { modelTopology, weightsManifest } = parseJsonAs(modelFile, fileOf(files, main).toString(), main)
  const constants = new Map<string, Constant>()
  for (const { paths, weights } of weightsManifest) {
    const bytes = Buffer.concat(paths.map((path) => fileOf(files, path)))
    let at = 0
    for (const { name, shape, dtype, quantization } of weights) {
      const kind = quantization?.dtype ?? dtype
      const length = sizeOf(shape) * (kind === 'float16' ? 2 : 4)
      if (at + length > bytes.length) throw damaged(`${paths.join(', ')} ends within the constant ${name}`)
      // A copy begins at a multiple of four bytes.
      constants.set(name, { shape, ...numbersOf(kind, Uint8Array.from(bytes.subarray(at, at + length)).buffer) })
      at += length
    }
    if (at !== bytes.length) throw damaged(`${paths.join(', ')} has more bytes than ${main} says`)
  }
  return { nodes: new Map(modelTopology.node.map((each) => [each.name, each])), constants }
}

function numbersOf(kind: Constant['kind'], buffer: ArrayBuffer) {
  if (kind === 'float16') return { kind, data: new Float16Array(buffer) } as const
  if (kind === 'int32') return { kind, data: new Int32Array(buffer) } as const
  return { kind, data: new Float32Array(buffer) } as const
}

function fileOf(files: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const file = files.get(name)
  if (!file) throw damaged(`${name} is missing`)
  return file
}

const damaged = (what: string) => new ModelError('model_archive_invalid', `The model's archive is not whole: ${what}.`)

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)
